# Checks the types of code with mypy, in the sandbox. None of the code runs. Inputs: `code`, `stubs`, `names` (a line that
# makes the names of the tools known).
import re

from mypy import api

# What is true of a type checker, but not of this sandbox, or what no run would notice.
IGNORED = re.compile(
    # `await` works at the top, and awaiting the result of a call returns it.
    r'^"(await|async with|async for)" outside|^Incompatible types in "await"|^asynchronous comprehension outside'
    r'|^(No overload variant of|Argument \d+ to) "(gather|wait_for|create_task|ensure_future|shield|as_completed|run|wait)"'
    # `max(counts, key=counts.get)`.
    r'|^Argument "key" to'
)
CODES = "assignment,import-untyped,no-redef,return,return-value,valid-type,var-annotated"
LINE = re.compile(r"code\.py:(\d+): error: (.*)")

for name, text in (("tools.pyi", stubs), ("code.py", names + "\n" + code)):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
output, problem, status = api.run(
    "--config-file= --cache-dir=/dev/null --no-error-summary --no-color-output --hide-error-context --hide-error-codes "
    "--check-untyped-defs --allow-redefinition --ignore-missing-imports".split()
    + ["--disable-error-code=" + code for code in CODES.split(",")]
    + ["code.py"]
)
if status > 1 and not LINE.match(output):
    raise RuntimeError(problem or output)
found = [LINE.match(line) for line in output.splitlines()]
found = [(int(line[1]) - 1, line[2]) for line in found if line]
[
    "line %d: %s" % (line, message.replace('"__call__" of "_Tool"', "the tool"))
    for line, message in found
    if line > 0 and not IGNORED.match(message)
]
