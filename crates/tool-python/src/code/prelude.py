# Defines the functions of the tools. Runs in the locked process, before the code, which is in `__code__`.
def _bind(name, tool, parameters, Started=Started):
    names = [parameter for parameter, _ in parameters]
    keys = dict(parameters)

    def arguments(positional, named):
        if len(positional) > len(names):
            raise TypeError("%s() takes %d arguments, but %d were given" % (name, len(names), len(positional)))
        given = dict(zip(names, positional))
        for key, value in named.items():
            if key in given:
                raise TypeError("%s() got multiple values for argument '%s'" % (name, key))
            given[key] = value
        return {keys.get(key, key): value for key, value in given.items()}

    def function(*positional, **named):
        return call_tool(tool, **arguments(positional, named))

    def start(*positional, **named):
        return Started(name, tool, arguments(positional, named))

    function.__name__ = function.__qualname__ = name
    function.start = start
    return function


del Started


def _bind_all(tools, names=globals()):
    for name, tool, parameters in tools:
        names[name] = _bind(name, tool, parameters)


def _declare(stubs, classes, code=__code__, names=globals()):
    """Gives the functions their docs and signatures, and defines the classes of the stubs, if the code may use them."""
    words = ("help", "inspect", "signature", "pydoc", "__doc__", "__annotations__", "get_type_hints")
    if not any(word in code for word in words) and not any(word in code for word in classes):
        return
    import inspect, typing

    declared = {"__name__": "tools"}
    # Annotations stay strings, because classes may refer to later ones.
    for statement in compile(stubs, "<stubs>", "exec", 0x400 | 0x1000000, True).body:
        try:
            tree = compile("", "<stubs>", "exec", 0x400, True)
            tree.body = [statement]
            eval(compile(tree, "<stubs>", "exec", 0x1000000, True), declared)
        except NameError:
            # A recursive type.
            target = getattr(statement, "targets", [getattr(statement, "target", None)])[0]
            declared[target.id] = typing.Any
    for name in classes:
        names[name] = declared[name]
    for name, stub in declared.items():
        function = names.get(name)
        if inspect.isfunction(stub) and hasattr(function, "start"):
            function.__doc__ = stub.__doc__
            function.__annotations__ = stub.__annotations__
            try:
                function.__signature__ = inspect.signature(stub, eval_str=True)
            except NameError:
                function.__signature__ = inspect.signature(stub)
