//! [`join_all`] and [`either`]: futures of futures.
//!
//! The crate `futures-util` has both, and takes a sixteenth of the time of building this crate and all that it needs.

use std::future::{Future, poll_fn};
use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Returns a future that runs these at once, and returns their outputs in order. After its first poll, it
/// polls only futures that were woken.
pub(crate) fn join_all<F: Future>(futures: impl IntoIterator<Item = F>) -> JoinAll<F> {
    let woken = Arc::new(Woken::default());
    let slots = futures.into_iter().enumerate().map(|(index, future)| {
        let child = Arc::new(Child {
            index,
            is_queued: AtomicBool::new(true),
            woken: Arc::clone(&woken),
        });
        let waker = Waker::from(Arc::clone(&child));
        Slot::Running(Box::pin(future), child, waker)
    });
    let slots: Vec<_> = slots.collect();
    woken.lock().indices = (0..slots.len()).collect();
    JoinAll {
        left: slots.len(),
        slots,
        woken,
    }
}

/// See [`join_all`].
pub(crate) struct JoinAll<F: Future> {
    slots: Vec<Slot<F>>,
    /// The futures that have not ended.
    left: usize,
    woken: Arc<Woken>,
}

enum Slot<F: Future> {
    Running(Pin<Box<F>>, Arc<Child>, Waker),
    Ended(F::Output),
    /// The output was returned, or the future panicked.
    Empty,
}

/// The futures are pinned on their own, and outputs are moved.
impl<F: Future> Unpin for JoinAll<F> {}

impl<F: Future> Future for JoinAll<F> {
    type Output = Vec<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let mut queue = this.woken.lock();
        let waker = queue.waker.as_ref();
        let is_same = waker.is_some_and(|waker| waker.will_wake(context.waker()));
        let replaced = (!is_same).then(|| queue.waker.replace(context.waker().clone()));
        let indices = mem::take(&mut queue.indices);
        drop(queue);
        // Outside the lock: it may drop a task.
        drop(replaced);
        for index in indices {
            let slot = &mut this.slots[index];
            if let Slot::Running(future, child, waker) = slot {
                // Reset before the poll, because it may be woken again during the poll. A swap also makes
                // visible what happened before a wake that came since it was queued.
                child.is_queued.swap(false, Ordering::AcqRel);
                if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(waker)) {
                    *slot = Slot::Ended(output);
                    this.left -= 1;
                }
            }
        }
        if this.left > 0 {
            return Poll::Pending;
        }
        let outputs =
            this.slots
                .iter_mut()
                .filter_map(|slot| match mem::replace(slot, Slot::Empty) {
                    Slot::Ended(output) => Some(output),
                    Slot::Running(..) | Slot::Empty => None,
                });
        Poll::Ready(outputs.collect())
    }
}

/// The futures to poll next.
#[derive(Default)]
struct Woken(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    indices: Vec<usize>,
    /// Of the task that polls them.
    waker: Option<Waker>,
}

impl Woken {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes one of the futures.
struct Child {
    index: usize,
    /// Set if it is among those to poll next.
    is_queued: AtomicBool,
    woken: Arc<Woken>,
}

impl Wake for Child {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.is_queued.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut queue = self.woken.lock();
        queue.indices.push(self.index);
        let waker = queue.waker.clone();
        drop(queue);
        // Outside the lock: it may run anything.
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Returns what the first of two futures returns. The left one is polled first.
pub(crate) async fn either<T>(
    mut left: impl Future<Output = T> + Unpin,
    mut right: impl Future<Output = T> + Unpin,
) -> T {
    poll_fn(|context| match Pin::new(&mut left).poll(context) {
        Poll::Ready(value) => Poll::Ready(value),
        Poll::Pending => Pin::new(&mut right).poll(context),
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::pin::pin;
    use std::rc::Rc;

    use super::*;

    /// Ready once it is open.
    #[derive(Default)]
    struct Door {
        is_open: Cell<bool>,
        waker: RefCell<Option<Waker>>,
        polls: Cell<usize>,
    }

    impl Door {
        fn open(&self) {
            self.is_open.set(true);
            if let Some(waker) = self.waker.take() {
                waker.wake();
            }
        }

        async fn pass(self: Rc<Self>, value: usize) -> usize {
            poll_fn(|context| {
                self.polls.set(self.polls.get() + 1);
                self.waker.replace(Some(context.waker().clone()));
                if self.is_open.get() {
                    Poll::Ready(value)
                } else {
                    Poll::Pending
                }
            })
            .await
        }
    }

    /// Counts the wakes of the outer task.
    #[derive(Default)]
    struct Wakes(std::sync::atomic::AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn only_futures_that_were_woken_are_polled() {
        let doors: Vec<_> = (0..4).map(|_| Rc::new(Door::default())).collect();
        let futures = doors.iter().cloned().zip(10..);
        let mut all = join_all(futures.map(|(door, value)| door.pass(value)));
        let count = Arc::new(Wakes::default());
        let waker = Waker::from(Arc::clone(&count));
        let mut context = Context::from_waker(&waker);
        let mut poll = || Pin::new(&mut all).poll(&mut context);
        assert!(poll().is_pending());
        assert!(poll().is_pending());
        for index in [2, 0, 3] {
            doors[index].open();
            assert!(poll().is_pending());
        }
        // One that is woken several times is polled once.
        for _ in 0..3 {
            doors[1].waker.borrow().as_ref().unwrap().wake_by_ref();
        }
        assert!(poll().is_pending());
        let polls: Vec<_> = doors.iter().map(|door| door.polls.get()).collect();
        assert_eq!(polls, [2, 2, 2, 2]);
        doors[1].open();
        assert_eq!(poll(), Poll::Ready(vec![10, 11, 12, 13]));
        assert_eq!(count.0.load(Ordering::Relaxed), 5);
    }

    #[test]
    fn a_future_that_wakes_itself_is_polled_again() {
        let mut left = 3;
        let again = poll_fn(|context| {
            left -= 1;
            context.waker().wake_by_ref();
            match left {
                0 => Poll::Ready(()),
                _ => Poll::Pending,
            }
        });
        let count = Arc::new(Wakes::default());
        let waker = Waker::from(Arc::clone(&count));
        let mut context = Context::from_waker(&waker);
        let mut all = join_all([again]);
        for round in 1..3 {
            assert!(Pin::new(&mut all).poll(&mut context).is_pending());
            assert_eq!(count.0.load(Ordering::Relaxed), round);
        }
        assert!(Pin::new(&mut all).poll(&mut context).is_ready());
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "starts a thread")]
    fn wakes_from_other_threads_are_not_lost() {
        let (sender, receiver) = std::sync::mpsc::channel::<Waker>();
        let thread = std::thread::spawn(move || receiver.into_iter().for_each(Waker::wake));
        let waits = |times: usize| {
            let (sender, mut left) = (sender.clone(), times);
            poll_fn(move |context| {
                let Some(less) = left.checked_sub(1) else {
                    return Poll::Ready(times);
                };
                left = less;
                sender.send(context.waker().clone()).unwrap();
                Poll::Pending
            })
        };
        // If a wake is lost, this never returns.
        let all = crate::runtime::block_on(join_all((0..100).map(waits))).unwrap();
        assert_eq!(all, (0..100).collect::<Vec<_>>());
        drop(sender);
        thread.join().unwrap();
    }

    #[test]
    fn no_futures_are_ready_at_once() {
        let mut none = join_all(Vec::<std::future::Ready<()>>::new());
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(Pin::new(&mut none).poll(&mut context), Poll::Ready(vec![]));
    }

    #[test]
    fn the_left_future_comes_first() {
        let mut context = Context::from_waker(Waker::noop());
        let mut poll = |left: bool, right: bool| {
            let [left, right] = [(left, 'l'), (right, 'r')].map(|(is_ready, value)| {
                poll_fn(move |_| {
                    if is_ready {
                        Poll::Ready(value)
                    } else {
                        Poll::Pending
                    }
                })
            });
            pin!(either(left, right)).poll(&mut context)
        };
        assert_eq!(poll(true, true), Poll::Ready('l'));
        assert_eq!(poll(false, true), Poll::Ready('r'));
        assert_eq!(poll(false, false), Poll::Pending);
    }
}
