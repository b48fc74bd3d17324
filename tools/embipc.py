"""embipc in Python: one file, ctypes only. All functions, structs and enums are read from embipc.h, so that they are
what the library has; their documentation is the header's. embipc_body_create is embipc.body_create here,
EMBIPC_CAGE is embipc.CAGE, embipc_body_def is the class embipc.body_def.

    import embipc
    world = embipc.World(time_step=0.01)
    ground = world.body(x, triangles, position=(0, 0, -0.5))
    box = world.body(x, triangles, kind=embipc.CAGE, scale=0.1, position=(0, 0, 0.2))
    world.step()
    print(world.state(box).centre[2], world.forces())

EMBIPC_LIBRARY and EMBIPC_HEADER name the two files where they are not found beside this one or where `make install`
puts them. The library must be built from that header, as `make lib` does. A call that returns an error raises
embipc.Error with its text.
"""
import ctypes
import os
import re
import sys
import time

_here = os.path.dirname(os.path.abspath(__file__))


def _find(variable, names):
    """The file that a variable of the environment names, or the first of names that is there."""
    paths = [os.environ[variable]] if variable in os.environ else [os.path.join(_here, n) for n in names]
    for path in paths:
        if os.path.exists(path):
            return path
    raise ImportError("embipc: found none of %s, expected one; %s may name it" % (", ".join(paths), variable))


class Error(Exception):
    """What a call says went wrong; code is its embipc_result."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


# ---- The header ------------------------------------------------------------------------------------------------

_types = {"int": ctypes.c_int, "unsigned": ctypes.c_uint, "double": ctypes.c_double, "float": ctypes.c_float,
          "size_t": ctypes.c_size_t, "char": ctypes.c_char, "unsigned char": ctypes.c_ubyte, "long": ctypes.c_long,
          "long long": ctypes.c_longlong, "unsigned long long": ctypes.c_ulonglong, "void": None}
_constants = {}


def _public(path):
    """Declarations of the header, without comments, and with its conditions decided as `make lib` does."""
    with open(path, encoding="utf-8") as f:
        text = f.read().split("#ifdef EMBIPC_IMPLEMENTATION")[0]
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    out, on = [], []
    for line in re.sub(r"\\\n", " ", text).split("\n"):
        words = line.split()
        if not line.startswith("#"):
            if all(on):
                out.append(line)
        elif words[0] == "#ifdef":
            on.append(words[1] == "EMBIPC_PTHREADS")
        elif words[0] == "#ifndef":
            on.append(words[1] != "EMBIPC_PTHREADS")
        elif words[0] == "#if":
            on.append(False)
        elif words[0] == "#else":
            on[-1] = not on[-1]
        elif words[0] == "#endif":
            on.pop()
        elif words[0] == "#define" and words[1] == "EMBIPC_VERSION":
            _constants["EMBIPC_VERSION"] = int(words[2])
        elif words[0] == "#define" and words[1] == "EMBIPC_REAL":
            _types["EMBIPC_REAL"] = _types[words[2]]   # `make lib` takes the default
    return " ".join(" ".join(out).split())


def _statements(text):
    """Cut at semicolons outside braces."""
    depth, begin = 0, 0
    for i, c in enumerate(text):
        depth += (c == "{") - (c == "}")
        if c == ";" and depth == 0:
            yield text[begin:i].strip()
            begin = i + 1


def _base(words):
    """The type of words like "const struct embipc_cage"."""
    name = " ".join(w for w in words.split() if w not in ("const", "struct", "extern", "volatile"))
    if name.startswith("struct "):
        name = name[7:]
    if name not in _types:
        _types[name] = type(name, (ctypes.Structure,), {})   # known by name only
    return _types[name]


def _pointer(t, stars):
    for _ in range(stars):
        if t is None:
            t = ctypes.c_void_p
        elif t is ctypes.c_char:
            t = ctypes.c_char_p
        elif isinstance(t, type) and issubclass(t, ctypes._CFuncPtr):
            pass   # a pointer to a function is what ctypes has for it
        else:
            t = ctypes.POINTER(t)
    return t


def _split(text):
    """Cut at commas outside parentheses."""
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(text[begin:i])
            begin = i + 1
    return parts + [text[begin:]]


_declarator = re.compile(r"\s*(?P<stars>[*\s]*(?:const\s+)?[*\s]*)(?P<name>\w+)\s*(?P<dims>(\[[^\]]*\])*)\s*$")


def _number(text):
    return int(text) if text.isdigit() else _constants[text]


def _declare(base, text, argument=False):
    """Name and type of "*x" or "p[3]"."""
    m = _declarator.match(text)
    t = _pointer(base, m.group("stars").count("*"))
    dims = [d for d in re.findall(r"\[([^\]]*)\]", m.group("dims"))]
    if argument and dims:
        return m.group("name"), _pointer(t, 1)
    for d in reversed(dims):
        t = t * _number(d.strip())
    return m.group("name"), t


_first = re.compile(r"((?:(?:const|struct|volatile)\s+)*"
                    r"(?:unsigned\s+long\s+long|long\s+long|unsigned\s+char|\w+)(?:\s+const)?)")


def _arguments(text):
    if text.strip() in ("", "void"):
        return []
    types = []
    for part in _split(text):
        part = part.strip()
        m = _first.match(part)
        rest = part[m.end():].strip() or "unnamed"
        if rest.strip("* ") == "":
            rest += "unnamed"
        types.append(_declare(_base(m.group(1)), rest, argument=True)[1])
    return types


def _fields(body):
    fields = []
    for line in body.split(";"):
        line = line.strip()
        if not line:
            continue
        m = re.match(r"(.*?)\(\s*\*\s*(\w+)\s*\)\s*\((.*)\)$", line)
        if m:   # a pointer to a function
            first = _first.match(m.group(1).strip())
            result = _pointer(_base(first.group(1)), m.group(1).count("*"))
            fields.append((m.group(2), ctypes.CFUNCTYPE(result, *_arguments(m.group(3)))))
            continue
        m = _first.match(line)
        base = _base(m.group(1))
        fields += [_declare(base, part) for part in _split(line[m.end():])]
    return fields


def _enum(body):
    value = -1
    for part in body.split(","):
        name, _, given = (w.strip() for w in part.partition("="))
        if not name:
            continue
        value = eval(given, {}, dict(_constants)) if given else value + 1
        _constants[name] = value


def _check(result, function, arguments):
    """Results other than EMBIPC_OK are raised, with the text of the world or of an embipc_error where there is one.
    What takes a const world sets no text: the world still has that of an earlier error."""
    if result == 0:
        return result
    text = ""
    for a in arguments:
        if isinstance(a, ctypes.POINTER(_types["embipc_world"])) and a and not function.asks:
            text = _functions["embipc_world_error"](a).contents.text.decode()
        elif isinstance(a, ctypes.POINTER(_types["embipc_world"])) and not a:
            text = "the world is closed: it ends with its block `with`, or by close()"
        a = getattr(a, "_obj", a)
        if isinstance(a, _types["embipc_error"]) and a.text:
            text = a.text.decode()
    raise Error(result, text or _functions["embipc_result_text"](result).decode())


_functions = {}


def _prototype(lib, text):
    m = re.match(r"EMBIPC_API\s+(.*?)(\w+)\s*\((.*)\)$", text)
    head, name, arguments = m.groups()
    function = getattr(lib, name)
    function.__name__ = name
    function.asks = "const embipc_world *" in arguments
    function.argtypes = _arguments(arguments)
    first = _first.match(head.strip())
    function.restype = _pointer(_base(first.group(1)), head.count("*"))
    if first.group(1) == "embipc_result":
        function.errcheck = _check
    _functions[name] = function


def _load(lib, text):
    _types["embipc_result"] = ctypes.c_int
    for s in _statements(text):
        m = re.match(r"(?:typedef\s+)?enum\s*(\w*)\s*\{(.*)\}\s*(\w*)$", s)
        if m:
            _enum(m.group(2))
            _types[m.group(3) or m.group(1)] = ctypes.c_int
            continue
        m = re.match(r"typedef\s+struct\s+(\w+)\s*\{(.*)\}\s*\w+$", s)
        if m:
            if m.group(1) not in _types:
                _types[m.group(1)] = type(m.group(1), (ctypes.Structure,), {})
            _types[m.group(1)]._fields_ = _fields(m.group(2))
            continue
        m = re.match(r"typedef\s+struct\s+(\w+)\s+\w+$", s)
        if m:
            _base(m.group(1))
            continue
        m = re.match(r"typedef\s+(\w+)\s+(\w+)\s*\((.*)\)$", s)
        if m:
            _types[m.group(2)] = ctypes.CFUNCTYPE(_base(m.group(1)), *_arguments(m.group(3)))
            continue
        m = re.match(r"typedef\s+(\w+)\s+(\w+)$", s)
        if m:
            _types[m.group(2)] = _types[m.group(1)]
        elif s.startswith("EMBIPC_API"):
            _prototype(lib, s)


header_path = _find("EMBIPC_HEADER", ["embipc.h", "../embipc.h", "../../include/embipc.h"])
library_path = _find("EMBIPC_LIBRARY", ["libembipc.so", "../build/libembipc.so", "../../lib/libembipc.so",
                                        "libembipc.dylib", "../../lib/libembipc.dylib"])
_load(ctypes.CDLL(library_path), _public(header_path))
for _name, _thing in list(_functions.items()) + list(_constants.items()) + [
        (n, t) for n, t in _types.items() if n.startswith("embipc_")]:
    setattr(sys.modules[__name__], _name[7:], _thing)


# ---- What most programs need -----------------------------------------------------------------------------------

def _array(kind, values):
    """A flat C array of numbers, of lists of lists, or of numpy arrays."""
    flat = []

    def take(v):
        if hasattr(v, "__len__"):
            for w in v:
                take(w)
        else:
            flat.append(v)
    take(values)
    return (kind * len(flat))(*flat)


def _set(target, values):
    """Sets fields by name. Those that are arrays, or point to numbers or handles, take lists."""
    for name, value in values.items():
        if name not in [f[0] for f in target._fields_]:
            raise TypeError("%s has no field %s" % (type(target).__name__, name))
        field = getattr(target, name)
        if isinstance(field, ctypes.Array) and not isinstance(value, (bytes, str)):
            array = _array(field._type_, value)
            if len(array) != len(field):
                raise ValueError("%s has %d numbers, not %d" % (name, len(field), len(array)))
            field[:] = array[:]
        elif isinstance(field, ctypes._Pointer) and isinstance(value, (list, tuple)):
            setattr(target, name, _array(field._type_, value))
        elif isinstance(field, ctypes.Structure) and isinstance(value, dict):
            _set(field, value)
        else:
            setattr(target, name, value.encode() if isinstance(value, str) else value)


# A clock for World(clock=embipc.clock), which budgets need.
clock = dict(_types["embipc_world_def"]._fields_)["clock"](lambda ctx: time.perf_counter())


def _values(call, kind):
    """The list of a call that writes at most capacity structs and returns how many there are."""
    n = call(None, 0)
    out = (_types[kind] * max(n, 1))()
    call(out, n)
    return list(out)[:n]


def _description(x, triangles, tets, fields):
    """embipc_body_def, and the arrays that it points to."""
    d = _functions["embipc_default_body_def"]()
    points = _array(_types["embipc_real"], x)
    if len(points) % 3:
        raise ValueError("x has %d numbers, which are no points of three" % len(points))
    d.x, d.vertex_count = points, len(points) // 3
    if triangles is not None:
        faces = _array(ctypes.c_int, triangles)
        d.triangles, d.triangle_count = faces, len(faces) // 3
    if tets is not None:
        cells = _array(ctypes.c_int, tets)
        d.tets, d.tet_count = cells, len(cells) // 4
    _set(d, fields)
    return d


def step_all(worlds, pool=None):
    """One step of several worlds, side by side in the threads of a pool (embipc.pool_create(threads)), or one after
    another. Returns embipc_step_stats of each."""
    n = len(worlds)
    handles = (ctypes.POINTER(_types["embipc_world"]) * n)(*[w.handle for w in worlds])
    stats, loop = (_types["embipc_step_stats"] * n)(), _types["embipc_parallel_for_fn"]()
    if pool:
        loop = ctypes.cast(_functions["embipc_pool_for"], _types["embipc_parallel_for_fn"])
    _functions["embipc_worlds_step"](handles, n, loop, pool, stats, None)
    return list(stats)


class World:
    """A world with its bodies. Keywords are fields of embipc_world_def. `handle` serves all other functions."""

    def __init__(self, **fields):
        definition = _functions["embipc_default_world_def"]()
        error = _types["embipc_error"]()
        self.handle = ctypes.POINTER(_types["embipc_world"])()
        self.frame = _types["embipc_frame"]()
        _set(definition, fields)
        self.definition = definition   # its callbacks live as long as the world
        _functions["embipc_world_create"](ctypes.byref(definition), ctypes.byref(self.handle), ctypes.byref(error))

    def body(self, x, triangles=None, tets=None, **fields):
        """Adds a body of vertices x, m, with triangles or tets by index. Keywords are fields of embipc_body_def.
        Returns its handle."""
        handle = _types["embipc_body"]()
        d = _description(x, triangles, tets, fields)
        _functions["embipc_body_create"](self.handle, ctypes.byref(d), ctypes.byref(handle))
        return handle

    def replace(self, body, x, triangles=None, tets=None, **fields):
        """The body as another kind with the same surface, for level of detail. Returns its new handle."""
        handle = _types["embipc_body"]()
        d = _description(x, triangles, tets, fields)
        _functions["embipc_body_replace"](self.handle, body, ctypes.byref(d), ctypes.byref(handle))
        return handle

    def step(self):
        """One step. Returns embipc_step_stats."""
        stats = _types["embipc_step_stats"]()
        _functions["embipc_world_step"](self.handle, ctypes.byref(stats))
        return stats

    def budget(self, seconds, strict=False):
        """The time that each later step, or frame, may take, s; 0: any. Needs World(clock=embipc.clock)."""
        _functions["embipc_world_set_budget"](self.handle, seconds, strict)

    def advance(self, seconds, max_steps=4, after_step=None):
        """The steps that are due after so many seconds of a frame; after_step(stats) follows each. Returns
        embipc_frame: steps, dropped, and alpha for pose()."""
        def call(world, stats, ctx):
            after_step(stats.contents)
        self.frame.seconds, self.frame.max_steps = seconds, max_steps
        self.frame.after_step = _types["embipc_after_step_fn"](call) if after_step else _types["embipc_after_step_fn"]()
        _functions["embipc_world_advance"](self.handle, ctypes.byref(self.frame))
        return self.frame

    def copy(self):
        """An independent world in the same state. Handles of bodies are valid in it."""
        other = World.__new__(World)
        other.handle = ctypes.POINTER(_types["embipc_world"])()
        other.frame = type(self.frame).from_buffer_copy(self.frame)
        other.definition = self.definition
        _functions["embipc_world_copy"](self.handle, ctypes.byref(other.handle))
        return other

    def restore(self, saved):
        """Back to the state of a copy."""
        _functions["embipc_world_restore"](self.handle, saved.handle)
        self.frame.rest = saved.frame.rest

    def save(self):
        """All of it as bytes."""
        count = ctypes.c_size_t()
        _functions["embipc_world_save"](self.handle, None, 0, ctypes.byref(count))
        buffer = ctypes.create_string_buffer(count.value)
        _functions["embipc_world_save"](self.handle, buffer, count, ctypes.byref(count))
        return buffer.raw

    @classmethod
    def load(cls, data, **fields):
        """The world that was saved as bytes. Keywords are callbacks of embipc_world_def."""
        definition = _functions["embipc_default_world_def"]()
        error = _types["embipc_error"]()
        other = cls.__new__(cls)
        other.handle = ctypes.POINTER(_types["embipc_world"])()
        other.frame = _types["embipc_frame"]()
        _set(definition, fields)
        other.definition = definition
        _functions["embipc_world_load"](data, len(data), ctypes.byref(definition), ctypes.byref(other.handle),
                                        ctypes.byref(error))
        return other

    def wake(self, body):
        _functions["embipc_body_wake"](self.handle, body)

    def is_awake(self, body):
        """False for a body that sleeps, where the world has sleep_after > 0."""
        return _functions["embipc_body_is_awake"](self.handle, body) != 0

    def pose(self, body, alpha=1):
        """embipc_pose at a moment of the last step: position, rotation, quaternion."""
        out = _types["embipc_pose"]()
        _functions["embipc_body_get_pose"](self.handle, body, alpha, ctypes.byref(out))
        return out

    def state(self, body):
        """embipc_body_state: mass, centre, velocity and so on."""
        s = _types["embipc_body_state"]()
        _functions["embipc_body_get_state"](self.handle, body, ctypes.byref(s))
        return s

    def vertices(self, body):
        """Positions of the surface's vertices, m, as a list of (x, y, z)."""
        v = _types["embipc_body_view"]()
        _functions["embipc_body_get_view"](self.handle, body, ctypes.byref(v))
        return [tuple(v.x[3 * i:3 * i + 3]) for i in range(v.vertex_count)]

    def forces(self):
        """Contact forces of the last step: a list of embipc_pair_force; `force` is that of b on a, N."""
        return _values(lambda out, n: _functions["embipc_world_pair_forces"](self.handle, out, n), "embipc_pair_force")

    def events(self):
        """What touches, has begun to, or has ended since the step before: a list of embipc_contact_event."""
        return _values(lambda out, n: _functions["embipc_world_contact_events"](self.handle, out, n),
                       "embipc_contact_event")

    def taxels(self, body, rotation, position, size, nx, ny, friction=0):
        """embipc_taxel of a grid on the body: nx of the first row, then of the next."""
        real = _types["embipc_real"]
        out = (_types["embipc_taxel"] * (nx * ny))()
        _functions["embipc_body_taxels"](self.handle, body, _array(real, rotation), _array(real, position),
                                         _array(real, size), nx, ny, friction, out)
        return list(out)

    def _hit(self, name, first, second, groups):
        real, hit = _types["embipc_real"], _types["embipc_hit"]()
        second = _array(real, second) if hasattr(second, "__len__") else second
        found = _functions[name](self.handle, _array(real, first), second, groups, ctypes.byref(hit))
        if found < 0:
            raise ValueError("%s: found a value that is not finite or below 0" % name)
        return hit if found else None

    def ray(self, start, end, groups=0xffffffff):
        """embipc_hit where the segment first meets a surface, or None."""
        return self._hit("embipc_world_cast_ray", start, end, groups)

    def closest(self, point, reach=float("inf"), groups=0xffffffff):
        """embipc_hit of the closest point of all surfaces, or None within reach."""
        return self._hit("embipc_world_closest", point, reach, groups)

    def overlap(self, low, high, groups=0xffffffff):
        """Bodies that meet the box."""
        low, high = _array(_types["embipc_real"], low), _array(_types["embipc_real"], high)
        return _values(lambda out, n: _functions["embipc_world_overlap"](self.handle, low, high, groups, out, n),
                       "embipc_body")

    def close(self):
        _functions["embipc_world_destroy"](self.handle)
        self.handle = ctypes.POINTER(_types["embipc_world"])()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()
