# Describes the interpreter to the host: lines of `key value`. Compiles the script that its first argument holds.
# Runs before any code, without `site`.
import marshal, os, site, sys, sysconfig

print("version %d.%d.%d" % sys.version_info[:3])
print("implementation " + sys.implementation.name)
print("executable " + sys.executable)
print("boot " + marshal.dumps(compile(sys.argv[1], "<string>", "exec", 0, True, 2)).hex())
try:
    import _ctypes

    print("ctypes yes")
except ImportError:
    pass
home = os.path.dirname(os.path.dirname(sys.executable))
prefixes = {sys.prefix, sys.base_prefix}
reads = set(sys.path)
config = os.path.join(home, "pyvenv.cfg")
if os.path.exists(config):
    # Debian's `getsitepackages` doesn't know virtual environments without `site`.
    reads.update((config, os.path.join(home, "lib"), os.path.join(home, "lib64")))
    prefixes.add(home)
    with open(config) as lines:
        settings = dict(line.lower().replace(" ", "").strip().split("=", 1) for line in lines if "=" in line)
    if settings.get("include-system-site-packages") != "true":
        prefixes = {home}
reads.update(sysconfig.get_paths()[key] for key in ("stdlib", "platstdlib"))
reads.update(site.getsitepackages(sorted(prefixes)))
# libpython.
reads.add(sysconfig.get_config_var("LIBDIR") or "")
for path in sorted(reads):
    if path and os.path.exists(path):
        print("read " + path)
