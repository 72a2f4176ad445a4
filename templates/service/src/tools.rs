//! The tools, and who decides on their calls.

use tool_core::hooks::{Gate, HookCall};
use tool_core::{Registry, RegistryError, tool};

/// A person who uses the service. Each call has the rights of the person whose conversation it is in.
#[derive(Clone)]
pub struct User {
    pub name: String,
    /// A lead decides on the orders of others.
    pub is_lead: bool,
}

/// Returns how many pieces of an article are left.
#[tool(read_only)]
fn stock(article: &str) -> usize {
    article.len()
}

/// Orders more pieces of an article.
#[tool]
fn order(
    article: &str,
    #[param(range = 1..=100)] count: u32,
    #[param(context)] user: &User,
) -> String {
    format!("ordered {count} of {article} for {}", user.name)
}

pub fn registry() -> Result<Registry, RegistryError> {
    let tools = Registry::builder().linked();
    tools.context_per_call::<User>().before(gate).build()
}

/// Lets reads pass. Leads confirm what they order themselves, and decide on the orders of others.
async fn gate(call: HookCall) -> Gate {
    if call.tool.annotations.read_only == Some(true) {
        Gate::Allow
    } else if call.get::<User>().is_some_and(|user| user.is_lead) {
        Gate::confirm("it costs money")
    } else {
        Gate::hold("it costs money, and a lead decides")
    }
}
