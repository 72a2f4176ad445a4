//! Measures the resources of a process from outside. A failed measurement is an error and never counts as zero.

use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use super::disk::RunFolder;

/// The resources that a process uses.
#[derive(Debug)]
pub(super) struct Usage {
    pub(super) cpu: Duration,
    pub(super) threads: u64,
    /// Disk usage, including deleted files that are open or mapped.
    pub(super) bytes: u64,
    pub(super) files: usize,
    pub(super) is_too_deep: bool,
}

/// Measures a process and its run folder. `proc` is its folder in `/proc`. Counts files up to `most`. `longest` is the
/// maximum size of a file.
///
/// # Errors
///
/// If something can't be read, for instance because the process is ending.
pub(super) fn measure(
    proc: &Path,
    folder: &RunFolder,
    most: usize,
    longest: u64,
) -> io::Result<Usage> {
    let on_disk = folder.usage(most);
    let deleted = deleted(proc, longest);
    // Read last: if the process is alive now, the values before are valid.
    let (state, cpu, threads) = read("stat", proc, |path| parse(&fs::read_to_string(path)?))?;
    if matches!(state, 'Z' | 'X') {
        // The kernel no longer shows the files of other threads.
        return Err(io::Error::other("its first thread has ended"));
    }
    let on_disk = on_disk.map_err(|error| named("the run folder", &error))?;
    Ok(Usage {
        cpu,
        threads,
        bytes: on_disk.bytes.saturating_add(deleted?),
        files: on_disk.files,
        is_too_deep: on_disk.is_too_deep,
    })
}

/// Returns the state of the first thread, the processor time of all threads, and their number, from `/proc/PID/stat`.
fn parse(stat: &str) -> io::Result<(char, Duration, u64)> {
    // The name of the program may contain spaces and parentheses.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let fields: Vec<_> = fields.split_whitespace().collect();
    // Numbered as in `man 5 proc`; here the first is 3.
    let field = |number: usize| fields.get(number - 3).copied();
    let count = |number| field(number)?.parse::<u64>().ok();
    let parsed = || {
        // User time, system time, threads.
        let ticks = count(14)?.saturating_add(count(15)?);
        let rate = rustix::param::clock_ticks_per_second().max(1);
        let cpu = Duration::from_millis(ticks.saturating_mul(1_000) / rate);
        Some((field(3)?.chars().next()?, cpu, count(20)?))
    };
    parsed().ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "a form that is not known"))
}

/// Returns the size of deleted files that the process has open or mapped.
fn deleted(proc: &Path, longest: u64) -> io::Result<u64> {
    let mut seen = HashSet::new();
    let mut bytes = 0_u64;
    read("fd", proc, |path| {
        for entry in fs::read_dir(path)? {
            let data = match fs::metadata(entry?.path()) {
                // The file was closed meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                data => data?,
            };
            if data.is_file() && data.nlink() == 0 && seen.insert(data.ino()) {
                bytes = bytes.saturating_add(data.blocks() * 512);
            }
        }
        Ok(())
    })?;
    let maps = read("maps", proc, |path| fs::read_to_string(path))?;
    // A mapping keeps a file alive after its descriptor is closed. Only root may ask for its size, so otherwise it
    // counts with the maximum.
    for line in maps.lines().filter(|line| line.ends_with("(deleted)")) {
        let mut fields = line.split_whitespace();
        let (Some(range), Some(inode), Some(path)) = (fields.next(), fields.nth(3), fields.next())
        else {
            return Err(named("maps", &ErrorKind::InvalidData.into()));
        };
        // This is shared memory without a file.
        if path != "/dev/zero" && inode.parse().is_ok_and(|inode| seen.insert(inode)) {
            let blocks =
                fs::metadata(proc.join("map_files").join(range)).map(|data| data.blocks() * 512);
            bytes = bytes.saturating_add(blocks.unwrap_or(longest));
        }
    }
    Ok(bytes)
}

fn read<T>(name: &str, proc: &Path, read: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let path = proc.join(name);
    read(&path).map_err(|error| named(&path.display().to_string(), &error))
}

fn named(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::Policy;

    /// Creates a folder like a process's in `/proc`. Tests remove files from it.
    fn fake(name: &str) -> PathBuf {
        let proc = std::env::temp_dir().join(format!("tool-python-{name}-{}", std::process::id()));
        fs::create_dir_all(proc.join("fd")).unwrap();
        fs::write(proc.join("maps"), "").unwrap();
        let stat = "7 (a) b) S 1 7 7 0 -1 4194304 1 0 0 0 25 50 0 0 20 0 3 0 9 9 9";
        fs::write(proc.join("stat"), stat).unwrap();
        proc
    }

    #[test]
    fn what_cannot_be_measured_is_an_error_that_names_it() {
        let proc = fake("unreadable");
        let folder = RunFolder::create(&Policy::new()).unwrap();
        let measured = || measure(&proc, &folder, 10, 1_000);
        let usage = measured().unwrap();
        assert_eq!(
            (usage.cpu, usage.threads, usage.bytes, usage.files),
            (Duration::from_millis(750), 3, 0, 0)
        );
        for name in ["stat", "fd", "maps"] {
            let hidden = proc.with_extension("hidden");
            fs::rename(proc.join(name), &hidden).unwrap();
            let error = measured().unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
            fs::rename(&hidden, proc.join(name)).unwrap();
        }
        for (name, text) in [
            ("stat", ""),
            ("stat", "7 (a) S 1 2"),
            ("stat", "7 (a) S 1 7 7 0 -1 4194304 1 0 0 0 x 50 0 0 20 0 3"),
            ("maps", "7f00-7f01 (deleted)\n"),
        ] {
            let old = fs::read(proc.join(name)).unwrap();
            fs::write(proc.join(name), text).unwrap();
            assert!(measured().unwrap_err().to_string().contains(name), "{text}");
            fs::write(proc.join(name), old).unwrap();
        }
        // If the size of a mapping is unknown, it counts with the maximum.
        fs::write(
            proc.join("maps"),
            "7f00-7f01 rw-s 0 08:01 77 /tmp/x (deleted)\n",
        )
        .unwrap();
        let usage = measured().unwrap();
        assert_eq!(usage.bytes, 1_000);
        fs::remove_dir_all(proc).unwrap();
    }

    #[test]
    fn a_process_whose_first_thread_ended_is_not_measured() {
        let proc = fake("zombie");
        let folder = RunFolder::create(&Policy::new()).unwrap();
        let stat = fs::read_to_string(proc.join("stat")).unwrap();
        fs::write(proc.join("stat"), stat.replace(" S ", " Z ")).unwrap();
        let error = measure(&proc, &folder, 10, 1_000).unwrap_err();
        assert!(error.to_string().contains("first thread"), "{error}");
        fs::remove_dir_all(proc).unwrap();
    }
}
