//! Repeats one case a given number of times, under callgrind: `counts-dynamic CASE REPEATS`.

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = |what| arguments.next().expect(what);
    let case = next("a case");
    if case == "cases" {
        for name in with_dynamic::CASES {
            println!("{name}");
        }
        return;
    }
    with_dynamic::work(&case).count(&next("repeats"));
}
