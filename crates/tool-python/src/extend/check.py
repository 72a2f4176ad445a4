# Checks the source of a new tool with Python's own parser, in the sandbox. None of the source runs.
# Inputs: `kind`, `name`, `code`, `tests`, `properties` (key to default, as a list of one or none), `required`.
import ast, importlib.util, io, keyword, tokenize

problems = []
modules = set()


def parsed(text, what, flags):
    try:
        tree = ast.parse(text, what)
        # Finds what the parser alone accepts, such as `return` outside of a function.
        compile(text, what, "exec", flags, True)
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NAME and not token.string.isascii():
                problems.append("%s, line %d: the name %s is not ASCII" % (what, token.start[0], token.string))
        return tree
    except SyntaxError as error:
        problems.append("%s, line %s: %s" % (what, error.lineno, error.msg))
    except (ValueError, RecursionError, MemoryError, tokenize.TokenError) as error:
        problems.append("%s: %s" % (what, error))


def is_installed(module):
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def check_imports(tree, what):
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = ["." if node.level else node.module]
        for module in {found.split(".")[0] for found in names}:
            if not module:
                problems.append("%s, line %d: there is nothing to import relative to" % (what, node.lineno))
                continue
            modules.add(module)
            if not is_installed(module):
                hint = "" if what == "code" else "; the tests see the names of the code, without an import"
                problems.append("%s, line %d: the module %s is not installed%s" % (what, node.lineno, module, hint))


def bound(statement):
    """Returns the names that a statement at the top level binds, except for the functions that it defines."""
    names = [node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)]
    for node in ast.walk(statement):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names += [(alias.asname or alias.name).split(".")[0] for alias in node.names]
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node is not statement:
            names.append(node.name)
        elif isinstance(node, ast.Global):
            names += node.names
    if isinstance(statement, ast.ClassDef):
        names.append(statement.name)
    return names


def is_function(node):
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))


def check_function(tree):
    entries = [node for node in tree.body if is_function(node) and node.name == name]
    if len(entries) != 1:
        count = "no function" if not entries else "%d functions" % len(entries)
        problems.append("code: there is %s `%s` at the top level; define exactly one" % (count, name))
        return None
    entry = entries[0]
    rest = [node for node in tree.body if not is_function(node)]
    if any(name in bound(node) for node in rest) or any(
        isinstance(node, ast.Global) and name in node.names for node in ast.walk(tree)
    ):
        problems.append("code: `%s` is assigned again; use another name for that" % name)
    where = "code, line %d: `%s`" % (entry.lineno, name)
    if entry.decorator_list:
        problems.append("%s has a decorator; remove it" % where)
    if any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own_nodes(entry)):
        problems.append("%s yields; return a list" % where)
    arguments = entry.args
    if arguments.posonlyargs or arguments.vararg or arguments.kwarg:
        problems.append("%s may only have plain parameters, without `/`, `*args` and `**kwargs`" % where)
    defaults = dict(zip([a.arg for a in arguments.args][::-1], arguments.defaults[::-1]))
    defaults.update((a.arg, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults) if d is not None)
    names = [a.arg for a in arguments.args + arguments.kwonlyargs]
    for key in properties:
        if key not in names:
            problems.append("%s lacks the parameter `%s`, which the schema has" % (where, key))
    for key in names:
        if key not in properties:
            problems.append("%s has the parameter `%s`, which the schema lacks" % (where, key))
        elif key in required and key in defaults:
            problems.append("%s has a default for `%s`, which the schema requires" % (where, key))
        elif key not in required and key not in defaults:
            problems.append("%s has no default for `%s`, which the schema does not require" % (where, key))
        elif key in defaults and properties[key]:
            check_default(where, key, defaults[key], properties[key][0])
    return entry


def own_nodes(function):
    """Walks a function without the functions inside."""
    todo = list(function.body)
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            todo.extend(ast.iter_child_nodes(node))


def check_default(where, key, node, expected):
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return
    if value != expected:
        problems.append("%s: the default of `%s` is %r, and %r in the schema" % (where, key, value, expected))


def check_tests(tree):
    if not any(isinstance(node, ast.Assert) for node in ast.walk(tree)):
        problems.append("tests: there is no `assert`")
    if not any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(tree)):
        problems.append("tests: they don't call `%s`" % name)
    if any(is_function(node) and node.name == name or not is_function(node) and name in bound(node) for node in tree.body):
        problems.append("tests: they replace `%s`; use another name for that" % name)
    for node in tree.body:
        if is_function(node) and node.name.startswith("test_"):
            if ast.unparse(node.args):
                problems.append("tests, line %d: `%s` has parameters, and gets none" % (node.lineno, node.name))


description, is_async = None, False
if kind == "python":
    for key in properties:
        if not key.isidentifier() or keyword.iskeyword(key) or key.startswith("__"):
            problems.append("schema: the key %r can't be a parameter of a Python function" % key)
    tree = parsed(code, "code", 0)
    if tree is not None:
        check_imports(tree, "code")
        entry = check_function(tree)
        if entry is not None:
            is_async = isinstance(entry, ast.AsyncFunctionDef)
            description = ast.get_docstring(entry)
            if not (description or "").strip():
                problems.append("code: `%s` has no docstring; it is the description of the tool" % name)
    tree = parsed(tests, "tests", 0)
    if tree is not None:
        check_imports(tree, "tests")
        check_tests(tree)
else:
    tree = parsed(code, "script", 0x2000)
    if tree is not None:
        check_imports(tree, "script")
        if properties and not any(isinstance(node, ast.Name) and node.id == "args" for node in ast.walk(tree)):
            problems.append("script: it does not use `args`, the dict with its arguments")

{"problems": problems[:20], "description": description, "is_async": is_async, "modules": sorted(modules)}
