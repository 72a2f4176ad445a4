//! The progress of a call, until it ends.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Arc, Mutex};

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, Peer};
use tokio::sync::Notify;
use tool_core::call::Progress;

use crate::lock;

/// Runs a call until it ends or is cancelled, and sends its progress. All reports are sent before this
/// returns. The caller pins the call, because a future that is moved in takes memory in each of the futures
/// around it once more.
pub(super) async fn until_end<T>(
    running: impl Future<Output = T> + Unpin,
    progress: Option<(Arc<Reports>, ProgressToken)>,
    context: &RequestContext<RoleServer>,
) -> Result<T, ErrorData> {
    let cancelled = context.ct.cancelled();
    // The client gets no response to a request that it has cancelled.
    let no_response = || Err(ErrorData::internal_error("cancelled", None));
    let Some((reports, token)) = progress else {
        return tokio::select! {
            biased;
            ended = running => Ok(ended),
            () = cancelled => no_response(),
        };
    };
    let mut pump = pin!(reports.send_to(&context.peer, &token));
    let ended = tokio::select! {
        biased;
        ended = running => ended,
        () = cancelled => return no_response(),
        () = &mut pump => unreachable!("reports are closed after the call"),
    };
    reports.close();
    pump.await;
    Ok(ended)
}

/// The most progress reports that wait to be sent. The newest replaces the last.
const WAITING: usize = 1024;

/// The progress reports of a call that are not sent yet.
#[derive(Default)]
pub(super) struct Reports {
    queue: Mutex<Queue>,
    changed: Notify,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Progress>,
    /// The progress of the last report.
    done: Option<f64>,
    is_closed: bool,
}

impl Reports {
    pub(super) fn push(&self, progress: &Progress) {
        let mut queue = lock(&self.queue);
        // The progress must increase (2026-07-28, `basic/utilities/progress`).
        let increases = queue.done.is_none_or(|done| progress.done > done);
        if !progress.done.is_finite() || !increases || queue.is_closed {
            return;
        }
        queue.done = Some(progress.done);
        if queue.waiting.len() == WAITING {
            queue.waiting.pop_back();
        }
        queue.waiting.push_back(progress.clone());
        drop(queue);
        self.changed.notify_one();
    }

    fn close(&self) {
        lock(&self.queue).is_closed = true;
        self.changed.notify_one();
    }

    /// Sends the reports, until they are closed and all are sent.
    async fn send_to(&self, peer: &Peer<RoleServer>, token: &ProgressToken) {
        loop {
            let (next, is_closed) = {
                let mut queue = lock(&self.queue);
                (queue.waiting.pop_front(), queue.is_closed)
            };
            match next {
                Some(progress) => {
                    let mut params = ProgressNotificationParam::new(token.clone(), progress.done);
                    params.total = progress.total.filter(|total| total.is_finite());
                    params.message = progress.message;
                    // Waits until it is sent.
                    let _ = peer.notify_progress(params).await;
                }
                None if is_closed => return,
                None => self.changed.notified().await,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_progress_is_bounded_and_ends_with_the_newest() {
        let reports = Reports::default();
        for done in 1..=10_000 {
            reports.push(&Progress::new(f64::from(done)));
        }
        reports.push(&Progress::new(9.0));
        let queue = lock(&reports.queue);
        assert_eq!(queue.waiting.len(), WAITING);
        assert_eq!(queue.waiting.front(), Some(&Progress::new(1.0)));
        assert_eq!(queue.waiting.back(), Some(&Progress::new(10_000.0)));
    }
}
