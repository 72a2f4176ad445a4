//! The tools of a small shop.

use std::time::Duration;

use rusqlite::{OptionalExtension, params};
use serde::Serialize;
use tool_core::call::Progress;
use tool_core::content::{Content, Image};
use tool_core::{CallContext, ToolType, toolset};

use crate::chart;
use crate::store::Store;

pub(crate) struct Shop {
    pub(crate) store: Store,
    /// The time that the bank takes.
    pub(crate) delay: Duration,
}

#[derive(Serialize, ToolType)]
struct Order {
    article: String,
    /// Price in cents.
    cents: u32,
    /// Sum of the refunds in cents.
    refunded_cents: u32,
}

impl Shop {
    fn order(&self, number: u32) -> Result<Order, String> {
        let sql = "SELECT article, cents, (SELECT coalesce(sum(cents), 0) FROM refund
                   WHERE customer_order = number) FROM customer_order WHERE number = ?1";
        let found = self.store.write(|store| {
            let order = store.query_row(sql, [number], |row| {
                let (article, cents, refunded_cents) = (row.get(0)?, row.get(1)?, row.get(2)?);
                Ok(Order {
                    article,
                    cents,
                    refunded_cents,
                })
            });
            order.optional()
        });
        let found = found.map_err(|_| "the shop's database does not answer")?;
        found.ok_or_else(|| format!("there is no order {number}"))
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
        let sql =
            "SELECT units FROM (SELECT * FROM sale ORDER BY week DESC LIMIT ?1) ORDER BY week";
        let sales = self.store.write(|store| {
            let mut statement = store.prepare(sql)?;
            let units = statement.query_map([weeks], |row| row.get(0))?;
            units.collect::<Result<Vec<u32>, _>>()
        });
        let sales = sales.map_err(|_| "the shop's database does not answer")?;
        let chart = Image::png(chart::png(&sales));
        Ok((sales, vec![chart.into()]))
    }

    /// Refunds an order, in whole or in part. The money is gone then.
    #[tool(destructive)]
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
        call: &CallContext,
    ) -> Result<String, String> {
        let found = self.order(order)?;
        let left = found.cents - found.refunded_cents.min(found.cents);
        if cents > left {
            return Err(format!(
                "only {left} cents of order {order} are not refunded"
            ));
        }
        call.report(&Progress::of(1.0, 2.0).message("waiting for the bank"));
        tokio::time::sleep(self.delay).await;
        let sql = "INSERT OR IGNORE INTO refund (key, customer_order, cents, reason)
                   VALUES (?1, ?2, ?3, ?4)";
        let key = call.idempotency_key().unwrap_or_default();
        let paid = self
            .store
            .write(|store| store.execute(sql, params![key, order, cents, reason]));
        paid.map_err(|_| "the refund can't be booked")?;
        Ok(format!(
            "refunded {}.{:02} EUR of order {order}",
            cents / 100,
            cents % 100
        ))
    }
}
