"""What tools/embipc.py makes of the header: hello.c in Python, the layout of all structs, calls and errors.

    bindings.py hello     prints what examples/hello.c prints
    bindings.py layout    prints a C program that fails where a size or an offset differs
    bindings.py calls     forces, errors, the worlds of other functions; copies, frames, rays, events, sleep
"""
import ctypes
import gc
import sys

import embipc

X = [(-.5, -.5, -.5), (.5, -.5, -.5), (-.5, .5, -.5), (.5, .5, -.5),
     (-.5, -.5, .5), (.5, -.5, .5), (-.5, .5, .5), (.5, .5, .5)]
T = [0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4, 2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5]


def start():
    world = embipc.World()
    world.body(X, T, friction=0.5, position=(0, 0, -0.5), name="ground")
    return world, world.body(X, T, friction=0.5, kind=embipc.CAGE, scale=0.1, position=(0, 0, 0.2), name="box")


def hello():
    world, box = start()
    for i in range(1, 101):
        world.step()
        if i % 10 == 0:
            print("after %.1f s its centre is at z = %.9f m" % (0.01 * i, world.state(box).centre[2]))


def layout():
    print("#include <embipc.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void)\n{\n    int bad = 0;")
    structs = 0
    for name, t in sorted(embipc._types.items()):
        if not isinstance(t, type) or not issubclass(t, ctypes.Structure) or not hasattr(t, "_fields_"):
            continue
        structs += 1
        print('    if (sizeof(%s) != %d) bad = !!printf("size of %s\\n");' % (name, ctypes.sizeof(t), name))
        for f in t._fields_:
            field = getattr(t, f[0])
            print('    if (offsetof(%s, %s) != %d || sizeof(((%s *)0)->%s) != %d) bad = !!printf("%s.%s\\n");'
                  % (name, f[0], field.offset, name, f[0], field.size, name, f[0]))
    for name, value in sorted(embipc._constants.items()):
        print('    if (%s != %d) bad = !!printf("%s\\n");' % (name, value, name))
    assert structs > 25, structs
    print("    return bad;\n}")


def calls():
    world, box = start()
    for _ in range(100):
        stats = world.step()
    forces = world.forces()
    weight = world.state(box).mass * 9.81
    assert stats.step == 100 and stats.converged and len(forces) == 1
    assert abs(forces[0].force[2] + weight) < 1e-3 * weight, (forces[0].force[2], weight)
    assert embipc.world_intersections(world.handle, None, 0) == 0
    assert len(world.vertices(box)) == 8 and abs(min(v[2] for v in world.vertices(box))) < 1e-3
    for wrong, code, words in [(lambda: world.body(X, T[:-3], kind=embipc.CAGE), embipc.ERR_OPEN, "not closed"),
                               (lambda: embipc.World(time_step=-1), embipc.ERR_ARGUMENT, "time_step")]:
        try:
            wrong()
        except embipc.Error as e:
            assert e.code == code and words in str(e), (e.code, str(e))
        else:
            assert False, "no error"
    try:
        world.body(X, T, colour=3)
    except TypeError as e:
        assert "colour" in str(e)
    else:
        assert False, "no error"
    try:   # it is the first error of this query, not the last one of the world
        world.state(embipc.body(99, 1))
    except embipc.Error as e:
        assert e.code == embipc.ERR_HANDLE and "closed" not in str(e), str(e)
    else:
        assert False, "no error"
    for fields in [{"position": (1, 0)}, {"position": (1, 0, 0, 0)}, {"x": [1, 2, 3, 4]}]:
        try:
            world.body(fields.pop("x", X), T, **fields)
        except ValueError as e:
            assert "numbers" in str(e), str(e)
        else:
            assert False, "no error"
    world.body(X, T, position=(9, 0, 0), rotation=[[1, 0, 0], [0, 1, 0], [0, 0, 1]], no_contact=[box], no_contact_count=1)
    world.close()
    callbacks()
    games()


def callbacks():
    """They live as long as the world, also where only the world and its copy know them."""
    asked = []
    world = embipc.World(pair=embipc.pair_fn(lambda a, user_a, b, user_b, ctx: asked.append(1) or 0))
    other = world.copy()
    loaded = embipc.World.load(world.save(), pair=embipc.pair_fn(lambda a, user_a, b, user_b, ctx: asked.append(2) or 0))
    del world
    gc.collect()
    others = [embipc.pair_fn(lambda a, user_a, b, user_b, ctx: 1) for _ in range(100)]
    for w in [other, loaded]:
        w.body(X, T)
        w.body(X, T)   # in the same place: the two may not touch
    assert asked == [1, 2] and others


def same(a, b):
    return (a.index1, a.generation) == (b.index1, b.generation)


def games():
    """What games and robots ask for."""
    world = embipc.World(sleep_after=0.1, clock=embipc.clock)
    ground = world.body(X, T, friction=0.5, position=(0, 0, -0.5), name="ground")
    box = world.body(X, T, friction=0.5, kind=embipc.AFFINE, scale=0.1, position=(0, 0, 0.0502), name="box")
    saved, begun = world.copy(), 0
    for _ in range(20):
        world.step()
        begun += [e.phase for e in world.events()].count(embipc.CONTACT_BEGIN)
    height = world.state(box).centre[2]
    assert begun == 1 and height < 0.0502
    flat = [1, 0, 0, 0, 1, 0, 0, 0, 1]
    force, grid = world.forces()[0].force[2], ((0, 0, 0), (0.2, 0.2, 0.1))   # on the ground, the first of the two
    taxels = world.taxels(box, flat, *grid, 2, 1)
    assert len(taxels) == 2 and abs(sum(t.normal for t in taxels) - force) < 1e-9 * abs(force), force
    for hit in [world.ray((0, 0, 1), (0, 0, -1)), world.closest((0, 0, 0.2))]:
        assert same(hit.body, box) and abs(hit.point[2] - height - 0.05) < 1e-3, hit.point[2]
    assert world.ray((1, 1, 1), (1, 1, 2)) is None and world.closest((0, 0, 9), 1) is None
    assert [same(b, box) for b in world.overlap((-.01, -.01, .02), (.01, .01, .03))] == [True]
    assert abs(world.pose(box).position[2] - height) < 1e-9
    try:
        world.ray((0, 0, float("nan")), (0, 0, 1))
    except ValueError:
        pass
    else:
        assert False, "no error"
    for _ in range(100):
        world.step()
    assert not world.is_awake(box)
    world.wake(box)
    assert world.is_awake(box)
    world.restore(saved)
    assert abs(world.state(box).centre[2] - 0.0502) < 1e-12
    loaded = embipc.World.load(world.save())
    assert embipc.world_hash(loaded.handle) == embipc.world_hash(world.handle) != 0
    twin, times = world.copy(), []
    frame = world.advance(0.035, 5, lambda stats: times.append(stats.step))
    assert frame.steps == 3 and len(times) == 3 and abs(frame.alpha - 0.5) < 1e-9
    pool = embipc.pool_create(2)
    for _ in range(3):
        stats = embipc.step_all([twin, saved], pool)
    embipc.pool_destroy(pool)
    assert len(stats) == 2 and stats[0].step == times[-1]
    assert list(twin.vertices(box)) == list(saved.vertices(box)) == list(world.vertices(box))
    for _ in range(3):
        loaded.step()
    assert list(loaded.vertices(box)) == list(twin.vertices(box))
    world.budget(1e-9, strict=True)
    try:
        world.step()
    except embipc.Error as e:
        assert e.code == embipc.ERR_TIME, e.code
    else:
        assert False, "no error"
    world.budget(0)
    soft = world.replace(box, X, T, friction=0.5, kind=embipc.CAGE, scale=0.1, position=(0, 0, 0.0502), name="soft")
    assert abs(world.state(soft).centre[2] - twin.state(box).centre[2]) < 1e-3
    world.step()
    for w in [world, twin, saved]:
        w.close()


{"hello": hello, "layout": layout, "calls": calls}[sys.argv[1]]()
