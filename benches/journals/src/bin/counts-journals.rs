//! Repeats one case a given number of times, under callgrind: `counts-journals CASE REPEATS`.

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = |what| arguments.next().expect(what);
    let case = next("a case");
    if case == "cases" {
        for name in with_journals::CASES {
            println!("{name}");
        }
        return;
    }
    let folder = with_journals::Folder::new();
    with_journals::work(&case, &folder).count(&next("repeats"));
}
