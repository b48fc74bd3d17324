#!/usr/bin/env python3
"""What the values of chapter Tuning do: each of them halved and doubled, alone, on scenes.

    tuning.py variables HEADER          prints the header with values that EMBIPC_TUNE="number factor" multiplies
    tuning.py run TOOL HEADER REPEATS PAGE SCENE.json...    prints a row for each; TOOL is built with that header

PAGE is docs/measured.md: rows that say "not measured" get what was found, if the environment has WRITE. A value that is the
size of an array, or stands in another constant, cannot be varied so, and is named at the end. The time of a run is the least
of the repeats, in user time, of runs longer than 0.2 s; solves are exact.
"""
import os
import re
import resource
import subprocess
import sys
import tempfile

VALUE = re.compile(r'^#define (EMBI_\w+) (?:\(\(embipc_real\)([-\d.e]+)\)|([-\d.e]+)|EMBI_SHARE\((\d+)\))(?: +/\*.*)?$')
# sizes of arrays, and values within constant expressions
CONSTANT = 'EMBI_TILE EMBI_BLOCK EMBI_TASKS EMBI_PANELS EMBI_STARTS EMBI_LEAF EMBI_CCD_GRAIN EMBI_RUNS'.split()
# the scenes run on one thread, build no cages and repair no meshes
IDLE = re.compile('EMBI_(SHARE|CAGE_|LARGEST_HOLE|POOL)')
SHORT = 0.2   # s: the times of shorter runs are noise


def values(path):
    """[(line, name, value, is an integer)] of the chapter"""
    with open(path) as file:
        lines = file.read().split('\n')
    begin = next(i for i, l in enumerate(lines) if re.match(r'/\* ==== \w+\. Tuning ', l))
    end = next(i for i in range(begin + 1, len(lines)) if lines[i].startswith('/* ==== '))
    found = []
    for i in range(begin, end):
        m = VALUE.match(lines[i])
        if m and m.group(1) not in CONSTANT and not IDLE.match(m.group(1)):
            found.append((i, m.group(1), m.group(2) or m.group(3) or m.group(4), not m.group(2) and '.' not in lines[i]))
    return lines, found


def variables(path):
    lines, found = values(path)
    for k, (i, name, value, whole) in enumerate(found):
        lines[i] = '#define %s %s' % (name, '((int)(embi_tuned(%d) * %s + 0.5))' % (k, value) if whole else
                                      '(embi_tuned(%d) * (embipc_real)%s)' % (k, value))
    print('''#include <stdlib.h>
static double embi_tuned(int k)
{
    static double factor;
    static int which = -1;
    if (which < 0) {
        char *text = getenv("EMBIPC_TUNE");
        which = text ? (int)strtol(text, &text, 10) : 9999;
        factor = text ? strtod(text, NULL) : 1;
    }
    return k == which ? factor : 1;
}''')
    print('\n'.join(lines))


def run(tool, scene, tune):
    """(user time, solves) of one run"""
    with tempfile.TemporaryDirectory() as out:
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([tool, 'run', scene, '--out', out, '--threads', '1', '--quiet'], env=dict(os.environ, **tune),
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        time = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        with open(os.path.join(out, 'steps.csv')) as file:
            rows = [line.split(',') for line in file if line[0] in '123456789']
        return time, sum(int(r[3]) for r in rows)


def measure(tool, repeats, scenes, tune):
    runs = [[run(tool, s, tune) for _ in range(repeats)] for s in scenes]
    return [(min(r[0] for r in one), one[0][1]) for one in runs]


def span(ratios):
    lo, hi = min(ratios), max(ratios)
    return '%.2f' % lo if '%.2f' % lo == '%.2f' % hi else '%.2f to %.2f' % (lo, hi)


def main():
    if sys.argv[1] == 'variables':
        variables(sys.argv[2])
        return
    tool, header, repeats, page, scenes = sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5], sys.argv[6:]
    lines, found = values(header)
    only = os.environ.get('ONLY', '').split()
    base = measure(tool, repeats, scenes, {})
    names = ', '.join(os.path.basename(s)[:-5] for s in scenes)
    with open(page) as file:
        text = file.read()
    print('of %s; ratios to the value as it is' % names)
    for k, (_, name, value, _) in enumerate(found):
        row = re.search(r'^\| `%s` \| .*\| not measured \|$' % name, text, re.M)
        if only and name not in only or not only and not row:
            continue
        said = []
        for what, factor in (('half', 0.5), ('double', 2)):
            new = measure(tool, repeats, scenes, {'EMBIPC_TUNE': '%d %g' % (k, factor)})
            said.append('%s: time %s, solves %s' % (what, span([n[0] / b[0] for n, b in zip(new, base) if b[0] > SHORT]),
                                                    span([n[1] / b[1] for n, b in zip(new, base)])))
        print('%-26s %-8s %s' % (name, value, '; '.join(said)), flush=True)
        if row and os.environ.get('WRITE'):
            cells = row.group().split('|')
            cells[-3], cells[-2] = ' quick bench scenes ', ' %s ' % '; '.join(said)
            text = text.replace(row.group(), '|'.join(cells))
            with open(page, 'w') as file:
                file.write(text)
    print('not varied: ' + ' '.join(CONSTANT))


main()
