//! Opens the file of a run under a lock. Closing the file unlocks it.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a file for appending, or creates it. Waits while another program has it locked.
pub(super) fn open_exclusive(path: &Path) -> io::Result<File> {
    open_writing(path, true)
}

/// Opens an existing file for changes. Waits while another program has it locked.
pub(super) fn open_existing(path: &Path) -> io::Result<File> {
    open_writing(path, false)
}

/// Opens a file for reading. Waits while another program writes.
pub(super) fn open_shared(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    #[cfg(unix)]
    lock(&file, rustix::fs::FlockOperation::LockShared)?;
    Ok(file)
}

#[cfg(unix)]
fn open_writing(path: &Path, creates: bool) -> io::Result<File> {
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
    loop {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(creates)
            // Conversations are private to this user.
            .mode(0o600)
            .open(path)?;
        lock(&file, rustix::fs::FlockOperation::LockExclusive)?;
        // Another program may have removed the file meanwhile.
        if file.metadata()?.nlink() > 0 {
            return Ok(file);
        }
    }
}

#[cfg(unix)]
fn lock(file: &File, operation: rustix::fs::FlockOperation) -> io::Result<()> {
    loop {
        match rustix::fs::flock(file, operation) {
            Err(rustix::io::Errno::INTR) => {}
            locked => return Ok(locked?),
        }
    }
}

/// On Windows, opening a file restricts the access of others meanwhile.
#[cfg(windows)]
fn open_writing(path: &Path, creates: bool) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    use std::thread::sleep;
    use std::time::Duration;

    /// `FILE_SHARE_READ` and `FILE_SHARE_DELETE`.
    const READ_AND_DELETE: u32 = 1 | 4;
    /// `ERROR_SHARING_VIOLATION`.
    const IN_USE: i32 = 32;
    /// Number of attempts, one every 10 milliseconds.
    const ATTEMPTS: u32 = 1000;

    for _ in 1..ATTEMPTS {
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .create(creates)
            .share_mode(READ_AND_DELETE)
            .open(path);
        match opened {
            Err(error) if error.raw_os_error() == Some(IN_USE) => sleep(Duration::from_millis(10)),
            opened => return opened,
        }
    }
    Err(io::Error::new(
        io::ErrorKind::TimedOut,
        "another program keeps the file open",
    ))
}

/// Without threads and processes there are no others.
#[cfg(not(any(unix, windows)))]
fn open_writing(path: &Path, creates: bool) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(creates)
        .truncate(false)
        .open(path)
}
