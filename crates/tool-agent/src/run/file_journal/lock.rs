//! Opens the file of a run under a lock, which ends when the file is closed.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a file to append, and creates it if it is missing. Waits while another program has it.
pub(super) fn open_exclusive(path: &Path) -> io::Result<File> {
    open_writing(path, true)
}

/// Opens a file that exists to change it. Waits while another program has it.
pub(super) fn open_existing(path: &Path) -> io::Result<File> {
    open_writing(path, false)
}

/// Opens a file to read. Waits while another program writes.
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
            // Conversations are nobody else's business.
            .mode(0o600)
            .open(path)?;
        lock(&file, rustix::fs::FlockOperation::LockExclusive)?;
        // Another program may have removed it in the meantime.
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

/// On Windows, who opens a file says what others may do meanwhile.
#[cfg(windows)]
fn open_writing(path: &Path, creates: bool) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    use std::thread::sleep;
    use std::time::Duration;

    /// `FILE_SHARE_READ` and `FILE_SHARE_DELETE`.
    const READ_AND_DELETE: u32 = 1 | 4;
    /// `ERROR_SHARING_VIOLATION`.
    const IN_USE: i32 = 32;
    /// How often it is tried, every 10 milliseconds.
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

/// Without threads and processes there is nobody else.
#[cfg(not(any(unix, windows)))]
fn open_writing(path: &Path, creates: bool) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(creates)
        .truncate(false)
        .open(path)
}
