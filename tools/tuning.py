#!/usr/bin/env python3
"""What the values of chapter Tuning do: each of them halved and doubled, alone, on scenes.

    tuning.py HEADER TOOL PAGE SCENE.json...    prints a row for each value

The environment has BUILD, a command that makes the program % of the header %.h. PAGE is docs/measured.md: values whose rows
say "not measured" are varied, or those in ONLY; with WRITE the rows get what was found. FACTORS: other than "0.5 2". COUNT:
instructions, counted by valgrind. THREADS: so many, and the time that passes. MODEL: the time
with 8 threads over that with one, by tools/model/pool.c, which needs no processors that are free. Else the time of a run is the least user time
of REPEATS runs, where that is over 0.2 s. Solves are exact.
"""
import os
import re
import subprocess
import sys
import tempfile
import time

VALUE = re.compile(r'#define (EMBI_\w+) (?:\(\(embipc_real\)([-\d.e]+)\)|([-\d.e]+)|(\(?EMBI_SHARE\(\d+\)(?: \* \w+\))?))(?: +/\*.*)?$')
ARRAYS = 'EMBI_TILE EMBI_BLOCK EMBI_TASKS EMBI_STARTS EMBI_LEAF'.split()   # a program for each of their values
# the scenes build no cages and repair no meshes; a single thread shares nothing
IDLE = re.compile('EMBI_(CAGE_|LARGEST_HOLE|POOL)')
SHARED = re.compile('EMBI_(SHARE|RUNS|TASKS|STARTS)')
SHORT = 0.2   # s: the times of shorter runs are noise
TUNED = '''#include <stdlib.h>
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
}
'''


def values(path):
    """the lines of the header, and [(line, name, value, is an integer)] of the chapter"""
    with open(path) as file:
        lines = file.read().split('\n')
    begin = next(i for i, l in enumerate(lines) if re.match(r'/\* ==== \w+\. Tuning ', l))
    end = next(i for i in range(begin + 1, len(lines)) if lines[i].startswith('/* ==== '))
    found = []
    for i in range(begin, end):
        m = VALUE.match(lines[i])
        if m:
            found.append((i, m.group(1), m.group(2) or m.group(3) or m.group(4), not m.group(2) and '.' not in lines[i].split('/*')[0]))
    return lines, found


def build(tool, text):
    with open(tool + '.h', 'w') as file:
        file.write(text)
    subprocess.run(os.environ['BUILD'].replace('%', tool), shell=True, check=True)
    return tool


def build_tuned(tool, header):
    """a program that EMBIPC_TUNE="number factor" tunes"""
    lines, found = values(header)
    for k, (i, name, value, whole) in enumerate(found):
        if name not in ARRAYS:
            lines[i] = '#define %s ((%s)(embi_tuned(%d) * %s%s))' % (name, 'int' if whole else 'embipc_real', k, value,
                                                                    ' + 0.5' if whole else '')
    return build(tool, TUNED + '\n'.join(lines))


def build_constant(tool, header, k, factor):
    lines, found = values(header)
    i, name, value, _ = found[k]
    lines[i] = '#define %s %d' % (name, max(1, int(float(value) * factor + 0.5)))
    return build(tool + '_constant', '\n'.join(lines))


def run(tool, scene, tune):
    """(cost, solves) of one run"""
    count, model = os.environ.get('COUNT'), os.environ.get('MODEL')
    threads = '2' if model else os.environ.get('THREADS') or '1'
    with tempfile.TemporaryDirectory() as out:
        command = [tool, 'run', scene, '--out', out, '--threads', threads, '--quiet']
        if count:
            command = ['valgrind', '--tool=cachegrind', '--cache-sim=no', '--cachegrind-out-file=' + out + '/count'] + command
        before, since = os.times().children_user, time.time()
        said = subprocess.run(command, env=dict(os.environ, **tune), capture_output=True, text=True, check=False).stderr
        cost = time.time() - since if threads != '1' else os.times().children_user - before
        if count:
            cost = float(re.search(r'I +refs: +([\d,]+)', said).group(1).replace(',', ''))
        if model:
            serial, many = re.search(r'model: serial ([\d.]+) .* 8: ([\d.]+)', said).groups()
            cost = float(many) / float(serial)
        with open(out + '/steps.csv') as file:
            rows = [line.split(',') for line in file if line[0] in '123456789']
        return cost, sum(int(r[3]) for r in rows)


def measure(tool, repeats, scenes, tune):
    runs = [[run(tool, s, tune) for _ in range(repeats)] for s in scenes]
    return [(min(r[0] for r in one), one[0][1]) for one in runs]


def span(ratios):
    lo, hi = min(ratios, default=1), max(ratios, default=1)
    return '%.2f' % lo if '%.2f' % lo == '%.2f' % hi else '%.2f to %.2f' % (lo, hi)


def main():
    header, tool, page, scenes = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    found = values(header)[1]
    only = os.environ.get('ONLY', '').split()
    factors = [float(f) for f in (os.environ.get('FACTORS') or '0.5 2').split()]
    repeats = 1 if os.environ.get('COUNT') else int(os.environ.get('REPEATS') or 3)
    threads = '2' if os.environ.get('MODEL') else os.environ.get('THREADS') or '1'
    names = [os.path.basename(s)[:-5] for s in scenes]
    build_tuned(tool, header)
    tuned_base = measure(tool, repeats, scenes, {})
    with open(page) as file:
        text = file.read()
    print('of %s; ratios to the value as it is' % ', '.join(names))
    for k, (_, name, value, _) in enumerate(found):
        row = re.search(r'^\| `%s` \| .*\| not measured \|$' % name, text, re.M)
        if name not in only if only else not row or IDLE.match(name) or (threads == '1' and SHARED.match(name)):
            continue
        said, each = [], []
        base = tuned_base
        if name in ARRAYS:
            base = measure(build_constant(tool, header, k, 1), repeats, scenes, {})
        for f in factors:
            tuned = build_constant(tool, header, k, f) if name in ARRAYS else tool
            new = measure(tuned, repeats, scenes, {'EMBIPC_TUNE': '%d %g' % (k, f)})
            least = 0 if os.environ.get('COUNT') or os.environ.get('MODEL') else SHORT
            what = 'instructions' if os.environ.get('COUNT') else 'time'
            said.append('%s: %s %s, solves %s' % ({0.5: 'half', 2: 'double'}.get(f, '%g times' % f), what,
                                                  span([n[0] / b[0] for n, b in zip(new, base) if b[0] > least]),
                                                  span([n[1] / b[1] for n, b in zip(new, base)])))
            each += ['%s %s %.3f/%.2f' % (f, s, n[0] / b[0], n[1] / b[1]) for s, n, b in zip(names, new, base)
                     if abs(n[0] / b[0] - 1) > 0.005 or n[1] != b[1]]
        print('%-26s %-8s %s' % (name, value, '; '.join(said)), flush=True)
        if os.environ.get('EACH'):
            print('    ' + ', '.join(each), flush=True)
        if row and os.environ.get('WRITE'):
            cells = row.group().split('|')
            cells[-3], cells[-2] = ' quick bench scenes ', ' %s ' % '; '.join(said)
            text = text.replace(row.group(), '|'.join(cells))
            with open(page, 'w') as file:
                file.write(text)


main()
