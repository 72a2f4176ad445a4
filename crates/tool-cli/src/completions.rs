//! `completions`: scripts that complete the names of the tools, their flags and their values.

use std::fmt::Write as _;
use std::io::Write as _;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{ArgMatches, Command};
use clap_complete::Shell;
use tool_core::Registry;

use crate::cli::Cli;
use crate::failure::Failure;
use crate::flags;

pub(crate) fn write(cli: &Cli, registry: &Registry, matches: &ArgMatches) -> Result<(), Failure> {
    let Some(&shell) = matches.get_one::<Shell>("shell") else {
        return Err(Failure::wrong("name a shell"));
    };
    std::io::stdout().write_all(&script(cli, registry, shell)?)?;
    Ok(())
}

fn script(cli: &Cli, registry: &Registry, shell: Shell) -> Result<Vec<u8>, Failure> {
    let specs = registry.specs();
    let names: Vec<_> = specs.iter().map(|tool| tool.name.to_string()).collect();
    let tools: Vec<_> = specs.iter().map(|tool| flags::completed(tool)).collect();
    let words = cli.words();
    let Some((program, above)) = words.split_first() else {
        return Err(Failure::wrong(
            "the program has no name; set one with `Cli::name`",
        ));
    };
    let mut command = cli.command();
    // A page of help for each command would be completed, too.
    command = command.disable_help_subcommand(true);
    command = command.mut_subcommand("call", |call| {
        let call = call.allow_external_subcommands(false);
        let call = call.disable_help_subcommand(true);
        match shell {
            // See `bash`.
            Shell::Bash => call,
            _ => call.subcommands(tools.clone()),
        }
    });
    command = command.mut_subcommand("show", |show| {
        show.mut_arg("name", |arg| {
            arg.value_parser(PossibleValuesParser::new(names))
        })
    });
    for word in above.iter().rev() {
        let parent = Command::new(program.clone()).disable_help_subcommand(true);
        command = parent.subcommand(command.name(word.clone()));
    }
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, program, &mut script);
    if shell == Shell::Bash {
        let others = String::from_utf8(script).map_err(Failure::failed)?;
        script = bash(&others, program, above, &tools).into_bytes();
    }
    Ok(script)
}

/// The flags that all tools have.
const SHARED: [&str; 3] = ["arguments", "arg", "help"];

/// Returns `true` for a word that means itself in a script, and can be a word of a list there.
fn is_plain(word: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/+@%".contains(&byte);
    !word.is_empty() && word.bytes().all(is_plain)
}

/// Completes `call` by a table with a line for each tool, because clap writes two kilobytes for each. `others` is its script for
/// the other commands.
fn bash(others: &str, program: &str, above: &[String], tools: &[Command]) -> String {
    let function = format!("_{}", program.replace('-', "__"));
    let mut script = others.replacen(
        &format!("{function}() {{"),
        &format!("{function}_commands() {{"),
        1,
    );
    let mut lines = String::new();
    let tools = tools.iter().filter(|tool| is_plain(tool.get_name()));
    for tool in tools.clone() {
        let mut words = Vec::new();
        for arg in tool.get_arguments() {
            let is_own = |long: &&str| is_plain(long) && !SHARED.contains(long);
            let Some(long) = arg.get_long().filter(is_own) else {
                continue;
            };
            let values = arg.get_possible_values();
            let values = values.iter().map(PossibleValue::get_name);
            let values: Vec<_> = values.filter(|value| is_plain(value)).collect();
            let values = match &*values {
                [] => String::new(),
                values => format!("={}", values.join("|")),
            };
            words.push(format!("--{long}{values}"));
        }
        let _ = writeln!(
            lines,
            "        {}) echo '{}' ;;",
            tool.get_name(),
            words.join(" ")
        );
    }
    let names: Vec<_> = tools.map(Command::get_name).collect();
    let call: Vec<_> = above.iter().map(String::as_str).chain(["call"]).collect();
    let (names, at) = (names.join(" "), call.len());
    let call = call.join(" ");
    let _ = write!(
        script,
        r#"
# Writes the flags of a tool, each with its values.
{function}_flags() {{
    case "$1" in
{lines}    esac
}}

{function}() {{
    local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}" tool="${{COMP_WORDS[{tool}]}}" word words=
    if [[ $COMP_CWORD -lt {tool} || "$tool" == -* || "${{COMP_WORDS[*]:1:{at}}}" != "{call}" ]]; then
        {function}_commands "$@"
        return
    fi
    COMPREPLY=()
    if [[ $COMP_CWORD -eq {tool} ]]; then
        {function}_commands "$@"
        COMPREPLY+=( $(compgen -W "{names}" -- "$cur") )
        return
    fi
    for word in $({function}_flags "$tool"); do
        if [[ "$word" == "$prev="* ]]; then
            word="${{word#*=}}"
            COMPREPLY=( $(compgen -W "${{word//|/ }}" -- "$cur") )
            return
        fi
        words+=" ${{word%%=*}}"
    done
    if [[ "$cur" == -* || "$prev" != --* ]]; then
        COMPREPLY=( $(compgen -W "$words{shared}" -- "$cur") )
    fi
}}
"#,
        tool = at + 1,
        shared = SHARED.map(|long| format!(" --{long}")).concat(),
    );
    script
}

#[cfg(all(test, feature = "web"))]
mod tests {
    use serde_json::json;
    use tool_core::dynamic::DynamicTool;

    use super::*;

    #[test]
    fn completions_of_many_tools_in_bash_are_small() {
        let tools = (0..150).map(|number| {
            let text = || json!({"type": "string", "description": "What is searched for."});
            let parameters = json!({"type": "object", "properties": {
                "customer": text(), "order": {"type": "integer"}, "since": text(), "until": text(),
                "state": {"enum": ["open", "paid", "sent"]}, "limit": {"type": "integer"},
            }});
            let tool = DynamicTool::builder(format!("search_orders_{number}"));
            let tool = tool.description("Searches the orders of a customer.");
            let tool = tool.parameters(parameters);
            tool.build(async |_, _| Ok::<_, String>(String::new()))
                .unwrap()
                .into()
        });
        let registry = Registry::builder().tools(tools).build().unwrap();
        let cli = Cli::linked().name("my-app tools");
        let script = script(&cli, &registry, Shell::Bash).unwrap();
        let text = std::str::from_utf8(&script).unwrap();
        for part in [
            "search_orders_149) echo '--customer",
            "--state=open|paid|sent",
            "\n_my__app_commands() {",
            "\n_my__app() {",
        ] {
            assert!(format!("\n{text}").contains(part), "{part}: {text}");
        }
        assert!(script.len() < 50_000, "{} bytes", script.len());
    }
}
