# Defines the functions of the tools. Runs in the locked process, before the code.
def _bind(name, tool, parameters):
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

    async def start(*positional, **named):
        return await start_tool(tool, **arguments(positional, named))

    function.__name__ = function.__qualname__ = name
    function.start = start
    return function


def _bind_all(tools, names=globals()):
    for name, tool, parameters in tools:
        names[name] = _bind(name, tool, parameters)
