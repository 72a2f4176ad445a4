//! The tools of a small shop, and the hook that decides which of their calls wait for whom.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use serde::Serialize;
use tool_core::call::Progress;
use tool_core::content::{Content, Image};
use tool_core::hooks::{Gate, HookCall};
use tool_core::{CallContext, Registry, RegistryBuilder, ToolType, toolset};

use crate::chart;
use crate::users::User;

pub(crate) struct Shop {
    database: Mutex<Connection>,
    /// The time that the bank takes.
    delay: Duration,
}

#[derive(Serialize, ToolType)]
struct Order {
    article: String,
    /// Price in cents.
    cents: u32,
    /// Sum of the refunds in cents.
    refunded_cents: u32,
}

/// Returns the tools of the page, of the MCP server and of the command line, which need a [`User`].
pub(crate) fn registry(database: Connection, delay: Duration) -> RegistryBuilder {
    let database = Mutex::new(database);
    let tools = Registry::builder().toolset("", Shop { database, delay });
    tools.before(gate)
}

/// Checks the rights of the user whose call it is, whoever continues the conversation.
async fn gate(hook: HookCall) -> Gate {
    let (user, annotations) = (hook.get::<User>(), hook.tool.annotations);
    if !user.is_some_and(|user| user.may_call(&hook.tool)) {
        Gate::deny("the user may not do that")
    } else if annotations.read_only == Some(true) {
        Gate::Allow
    } else if annotations.destructive == Some(false) {
        Gate::confirm("everybody sees it")
    } else {
        Gate::hold("it can't be undone")
    }
}

impl Shop {
    fn query<T>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, String> {
        let database = self.database.lock();
        query(&database.unwrap_or_else(PoisonError::into_inner))
            .map_err(|_| "the shop's database does not answer".into())
    }

    fn order(&self, number: u32) -> Result<Order, String> {
        let sql = "SELECT article, cents, (SELECT coalesce(sum(cents), 0) FROM refund
                   WHERE customer_order = number) FROM customer_order WHERE number = ?1";
        let order = |row: &Row<'_>| {
            Ok(Order {
                article: row.get(0)?,
                cents: row.get(1)?,
                refunded_cents: row.get(2)?,
            })
        };
        let found = self.query(|shop| shop.query_row(sql, [number], order).optional())?;
        found.ok_or_else(|| format!("there is no order {number}"))
    }

    /// Reserves money of an order for a call. The check and the reservation are one transaction: while the bank takes its
    /// time, another call sees that the money is gone.
    fn reserve(&self, key: &str, order: u32, cents: u32) -> Result<Reservation<'_>, String> {
        let left = self.query(|shop| {
            let shop = Transaction::new_unchecked(shop, TransactionBehavior::Immediate)?;
            let sql = "SELECT cents - (SELECT coalesce(sum(cents), 0) FROM
                       (SELECT key, customer_order, cents FROM refund
                        UNION SELECT key, customer_order, cents FROM reservation)
                       WHERE customer_order = number AND key <> ?2)
                       FROM customer_order WHERE number = ?1";
            let left = shop.query_row(sql, params![order, key], |row| row.get::<_, i64>(0));
            let left = left.optional()?;
            if left.is_some_and(|left| i64::from(cents) <= left) {
                let sql = "INSERT OR IGNORE INTO reservation VALUES (?1, ?2, ?3)";
                shop.execute(sql, params![key, order, cents])?;
            }
            shop.commit()?;
            Ok(left)
        })?;
        match left {
            None => Err(format!("there is no order {order}")),
            Some(left) if left < i64::from(cents) => Err(format!(
                "order {order} has {} cents left to refund",
                left.max(0)
            )),
            Some(_) => Ok(Reservation {
                shop: self,
                key: key.to_owned(),
            }),
        }
    }
}

/// Money that is reserved. Dropping it gives the money back, such as when the call is cancelled.
struct Reservation<'s> {
    shop: &'s Shop,
    key: String,
}

impl Reservation<'_> {
    /// Books the refund in place of the reservation. A call that is repeated books once.
    fn book(&self, order: u32, cents: u32, reason: &str, owner: &str) -> Result<(), String> {
        let sql = "INSERT OR IGNORE INTO refund VALUES (?1, ?2, ?3, ?4, ?5)";
        let row = params![self.key, order, cents, reason, owner];
        self.shop.query(|shop| shop.execute(sql, row))?;
        Ok(())
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let sql = "DELETE FROM reservation WHERE key = ?1";
        // If it fails, the money stays reserved until the next start.
        let _ = self.shop.query(|shop| shop.execute(sql, [&self.key]));
    }
}

#[toolset]
impl Shop {
    /// Finds an order.
    #[tool(read_only, blocking)]
    fn find_order(
        &self,
        /// Number of the order.
        #[param(example = 1042)]
        order: u32,
    ) -> Result<Order, String> {
        self.order(order)
    }

    /// Draws a chart of the units sold in the last weeks, which the user sees.
    ///
    /// # Returns
    /// The numbers in the chart, by week.
    #[tool(read_only, blocking)]
    fn draw_sales(
        &self,
        /// Number of weeks.
        #[param(range = 2..=12, default = 8)]
        weeks: u8,
    ) -> Result<(Vec<u32>, Vec<Content>), String> {
        let sql = "SELECT week, units FROM sale ORDER BY week DESC LIMIT ?1";
        let mut sales = self.query(|shop| {
            let mut sales = shop.prepare(sql)?;
            let sales = sales.query_map([weeks], |row| Ok((row.get(0)?, row.get(1)?)))?;
            sales.collect::<Result<Vec<(u32, u32)>, _>>()
        })?;
        sales.reverse();
        let chart = Image::new("image/svg+xml", chart::svg(&sales));
        let units = sales.into_iter().map(|(_, units)| units);
        Ok((units.collect(), vec![chart.into()]))
    }

    /// Refunds an order, in whole or in part. The money is gone then.
    #[tool(destructive, meta = r#"{"ui": {"visibility": ["model"]}}"#)]
    async fn refund_order(
        &self,
        /// Number of the order.
        #[param(example = 1042)]
        order: u32,
        /// Amount in cents.
        #[param(range = 1..=100_000, example = 4800)]
        cents: u32,
        /// Reason, for the books.
        #[param(length = 1..=200, example = "It arrived broken.")]
        reason: &str,
        #[param(context)] user: &User,
        call: &CallContext,
    ) -> Result<String, String> {
        let key = match call.idempotency_key() {
            Some(key) => key.to_owned(),
            // A call that nobody repeats, such as one over MCP.
            None => self
                .query(|shop| shop.query_row("SELECT hex(randomblob(16))", [], |row| row.get(0)))?,
        };
        let reserved = self.reserve(&key, order, cents)?;
        call.report(&Progress::of(1.0, 2.0).message("waiting for the bank"));
        tokio::time::sleep(self.delay).await;
        reserved.book(order, cents, reason, &user.name)?;
        let euros = f64::from(cents) / 100.0;
        Ok(format!("refunded {euros:.2} EUR of order {order}"))
    }

    /// Changes the price of an article that was ordered.
    #[tool(destructive = false, blocking, tags = ["admin"])]
    fn change_price(
        &self,
        /// Number of the order.
        #[param(example = 1043)]
        order: u32,
        /// New price in cents.
        #[param(range = 1..=100_000, example = 17_900)]
        cents: u32,
    ) -> Result<String, String> {
        let sql = "UPDATE customer_order SET cents = ?2 WHERE number = ?1";
        match self.query(|shop| shop.execute(sql, [order, cents]))? {
            0 => Err(format!("there is no order {order}")),
            _ => Ok(format!("order {order} costs {cents} cents now")),
        }
    }
}
