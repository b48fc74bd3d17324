#!/usr/bin/env python3
"""What can be told of embipc.h without running it.

    header.py metrics [HEADER]            sizes, comments, structs, calls
    header.py docs    [HEADER]            fails where a comment is missing
    header.py toc     [HEADER] [--write]  fails where contents, `Uses:` lines or equations name what is not there, where
                                          parts or sections are not numbered as they stand, where part V is long, or
                                          where a tuning value lacks its place, its comment or its row
    header.py stack   HEADER FILE.su      bound of a step's stack, from gcc -fstack-usage; fails on what has no bound

The parser relies on the header's style: file-scope braces are balanced, and macros define no functions.
"""
import bisect
import glob
import os
import re
import statistics
import sys
import textwrap

STEP = 'embipc_world_step'
LONG = 5             # lines; a longer function has a comment directly above it
SHARE = 95           # percent of them that must
MEMBERS, SECTION, SPINE = 40, 700, 1600
EQUATIONS = 17       # numbered ones of the paper
WIDTH = 112


# ---- the parser: functions, structs, public declarations, sections ----

def blank(match):
    """Spaces in the place of a match, so that offsets and line numbers stay."""
    return re.sub(r'[^\n]', ' ', match.group())


class Function:
    def __init__(self, name, start, end, head, body):   # start, end: line numbers from 0
        self.name, self.start, self.end, self.body, self.text = name, start, end, body, head + body
        self.lines = end - start + 1


class Header:
    def __init__(self, path):
        with open(path, 'rb') as file:
            raw = file.read()
        self.path, self.bytes, self.text = path, len(raw), raw.decode()
        self.lines = self.text.split('\n')
        # code: comments, strings and characters are blank; plain: preprocessor lines as well
        self.code = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, self.text, flags=re.S)
        self.code_lines = self.code.split('\n')
        self.plain = re.sub(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', blank, self.code, flags=re.M)
        self.starts = [0] + [m.end() for m in re.finditer('\n', self.text)]
        self.implementation = self.line(self.text.index('\n#ifdef EMBIPC_IMPLEMENTATION') + 1)
        self.functions, self.structs, self.public, self.statements = [], [], [], []
        self.parse()
        self.named = {}
        for f in self.functions:
            self.named.setdefault(f.name, []).append(f)
        self.sections = [(self.line(m.start()), m.group(1), m.group(2))
                         for m in re.finditer(r'^/\* ==== (\w+)\. (.*?) =+$', self.text, re.M)]
        self.parts = [(self.line(m.start()), m.group(1), m.group(2))
                      for m in re.finditer(r'^/\* #+ Part (\w+)\. (.*?) #+$', self.text, re.M)]

    def line(self, offset):
        return bisect.bisect(self.starts, offset) - 1

    def parse(self):
        """Splits the file at its file-scope ';' and '}'."""
        depth, begin, open_at = 0, 0, 0
        for m in re.finditer(r'[{};]', self.plain):
            if m.group() == '{':
                if depth == 0:
                    open_at = m.start()
                depth += 1
            elif m.group() == '}':
                depth -= 1
                if depth == 0 and self.definition(begin, open_at, m.end()):
                    begin = m.end()
            elif depth == 0:
                self.statement(begin, m.end())
                begin = m.end()
        if depth:
            sys.exit('%s: braces do not balance' % self.path)

    def definition(self, begin, open_at, end):
        """A block at file scope: true where it ends what it belongs to, as a function's does."""
        begin = self.compiled(begin, open_at)
        head = self.plain[begin:open_at]
        text = head.strip()
        if text.endswith(')'):
            name = re.search(r'(\w+)\s*\(', re.sub(r'__attribute__\s*\(\(.*?\)\)', '', text)).group(1)
            start = begin + len(head) - len(head.lstrip())
            self.functions.append(Function(name, self.line(start), self.line(end - 1), text, self.plain[open_at:end]))
            return True
        if re.search(r'\b(struct|union)\b[^=]*$', text):
            name = re.search(r'(?:struct|union)\s*(\w*)$', text)
            after = re.match(r'\s*(\w*)', self.plain[end:])
            self.struct(name and name.group(1) or after.group(1), self.plain[open_at + 1:end - 1])
        return False

    def compiled(self, begin, end):
        """Functions that EMBI_COMPILE makes of their kernels before a definition. Returns where that begins."""
        while True:
            m = re.compile(r'\s*EMBI_COMPILE\(\s*(\w+)').match(self.plain, begin, end)
            if not m:
                return begin
            start, depth = m.start(1), 1
            begin = m.end()
            while depth:
                depth += {'(': 1, ')': -1}.get(self.plain[begin], 0)
                begin += 1
            name = m.group(1)
            self.functions.append(Function(name, self.line(start), self.line(begin - 1), 'static void %s()' % name,
                                           '{ %s_kernel(); }' % name))

    def struct(self, name, body):
        """Counts the members; a struct inside is one of them, and counts its own."""
        inner = re.compile(r'(?:struct|union)\s*\w*\s*\{([^{}]*)\}\s*(\w*)')
        while True:
            m = inner.search(body)
            if not m:
                break
            self.struct('%s.%s' % (name, m.group(2)), m.group(1))
            body = body[:m.start()] + 'int ' + m.group(2) + body[m.end():]
        members = []
        body = re.sub(r'\(\s*\*\s*(\w+)\s*\)\s*\([^()]*\)', r'\1', body)   # pointers to functions
        for declaration in re.sub(r'\[[^\]]*\]', '', body).split(';'):
            words = declaration.split()
            if words:
                for part in declaration.split(','):
                    members.append((re.search(r'(\w+)\s*(?::\s*\d+)?\s*$', part).group(1),
                                    words[0] in ('int', 'unsigned', 'char') and '*' not in part))
        self.structs.append((name, members))

    def statement(self, begin, end):
        text = self.plain[begin:end]
        start = self.line(begin + len(text) - len(text.lstrip()))
        stop = self.line(end - 1)
        self.statements.append((start, text.strip()))
        if start < self.implementation and re.match(r'\s*(EMBIPC_API|typedef)\b', text):
            self.public.append((start, stop, text.strip()))

    def is_comment(self, line):
        return line >= 0 and not self.code_lines[line].strip() and self.lines[line].strip() != ''

    def has_comment(self, line):
        """Directly above; conditions of the preprocessor may stand between."""
        line -= 1
        while self.code_lines[line].startswith('#if'):
            line -= 1
        title = re.match(r'/\* (----|====) .* \*/$', self.lines[line])   # of one line: it says nothing of the function
        return self.is_comment(line) and not title

    def undocumented(self):
        long = [f for f in self.functions if f.lines > LONG]
        return [f for f in long if not self.has_comment(f.start)], len(long)


# ---- calls ----

class Calls:
    """Who calls whom. A function that is handed over as an argument counts as called by who hands it over."""

    def __init__(self, header):
        self.header = header
        self.to, self.handed, self.indirect, self.down = {}, {}, {}, []
        pointers = set(re.findall(r'\w+_fn\s*\*\s*(\w+)', header.plain))
        macros = {m.group(1): m.group(2) for m in re.finditer(
            r'^#[ \t]*define[ \t]+(\w+)\(((?:[^\n]*\\\n)*[^\n]*)', header.code, re.M)}
        for f in header.functions:
            body = f.body
            for name in set(re.findall(r'\b(\w+)\s*\(', body)) & set(macros):
                body += macros[name]
            calls, handed = set(), set()
            for m in re.finditer(r'(->|\.)?\s*\b([A-Za-z_]\w*)\b(\s*\()?', body):
                name = m.group(2)
                if m.group(3) and name in pointers:
                    self.indirect.setdefault(f.name, set()).add(name)
                elif name in header.named and not m.group(1) and name != f.name or m.group(3) and name == f.name:
                    calls.add(name)
                    if not m.group(3):
                        handed.add((self.receiver(body, m.start()), name))
                    if min(g.start for g in header.named[name]) > f.end:
                        self.down.append((f.name, name))
            self.to.setdefault(f.name, set()).update(calls)
            self.handed.setdefault(f.name, set()).update(handed)

    def receiver(self, body, at):
        """The function in whose brackets an argument stands, or None."""
        depth = 0
        while at > 0:
            at -= 1
            if body[at] == ')':
                depth += 1
            elif body[at] == '(':
                m = re.search(r'(\w+)\s*$', body[:at])
                if depth == 0 and m and m.group(1) in self.header.named:
                    return m.group(1)
                depth -= depth > 0
            elif body[at] in ';{}':
                return None
        return None

    def reached(self, root):
        seen, todo = {root}, [root]
        while todo:
            for g in self.to.get(todo.pop(), ()):
                if g not in seen:
                    seen.add(g)
                    todo.append(g)
        return seen

    def recursive(self, names):
        return sorted(n for n in names if any(n in self.reached(g) for g in self.to.get(n, ())))

    def longest(self, root, weight, extra=None):
        """(sum, chain) of the heaviest chain of calls; a function that recurs counts once. extra(f, g): besides."""
        memo, active = {}, set()

        def walk(f):
            if f in memo:
                return memo[f]
            active.add(f)
            best = (0, ())
            for g in sorted(self.to.get(f, ())):
                if g not in active:
                    size, chain = walk(g)
                    size += extra(f, g) if extra else 0
                    best = max(best, (size, chain), key=lambda b: b[0])
            active.discard(f)
            memo[f] = (best[0] + weight(f), (f,) + best[1])
            return memo[f]

        return walk(root)


# ---- metrics ----

class Flags:
    """Members of integer type that hold nothing but 0 and 1, as far as can be told from what is assigned to them."""

    CONDITION = re.compile(r'==|!=|<=|>=|&&|\|\||(?<![-<])[<>](?![<>=])|^!')
    ASSIGNED = re.compile(r'(\w*)(\]?)(?:->|\.)(\w+)\s*(\+\+|--|[-+*/|&^]?=(?!=))(?=\s*([^;,]*))')

    def __init__(self, header, struct):
        self.header = header
        self.members = [n for name, members in header.structs if name == struct for n, small in members if small]
        self.truths, values, other = set(), {}, set()   # truths: functions that return nothing else
        for f in header.functions:
            for m in self.ASSIGNED.finditer(f.text):
                kind = re.search(r'\b(embi\w+)\s+(?:const\s*)?\*?\s*%s\b' % m.group(1), f.text) if m.group(1) else None
                if kind and not m.group(2) and kind.group(1) != struct:
                    continue   # a member of that name of another struct
                if m.group(4) in ('=', '|=', '&='):
                    values.setdefault(m.group(3), []).append((m.group(5).strip(), f))
                else:
                    other.add(m.group(3))
            # filled by who gets its address, or counted
            other |= set(re.findall(r'(?:&|\+\+|--)[\w.\[\]>-]*(?:->|\.)(\w+)\s*[,);]', f.text))
        self.known = {n for n in self.members if n in values and n not in other}
        for _ in range(4):
            for f in header.functions:
                returns = re.findall(r'\breturn\b\s*([^;]+);', f.body)
                if returns and all(self.is_flag(r, f) for r in returns):
                    self.truths.add(f.name)
            self.known = {n for n in self.known if all(self.is_flag(v, f) for v, f in values[n])}

    def is_flag(self, value, f, deep=1):
        value = value.strip()
        if not self.CONDITION.search(value):
            value = value.split('=')[-1].strip()   # a = b = 0
        if '?' in value:
            return all(self.is_flag(v, f) for v in re.split(r'[?:]', value)[1:])
        if value in ('0', '1') or self.CONDITION.search(value):
            return True
        m = re.match(r'[\w.\[\]>-]*(?:->|\.)(\w+)$', value)
        if m:
            return m.group(1) in self.known
        m = re.match(r'(\w+)\s*\(', value)
        if m:   # the call ends the value, or a comma within its brackets does
            return m.group(1) in self.truths and (value.endswith(')') or value.count('(') > value.count(')'))
        given = self.arguments(value, f)
        if given and deep:
            return all(self.is_flag(v, g, 0) for v, g in given)
        if not deep or re.search(r'(\+\+|--|&)%s\b|\b%s\s*(\+\+|--|[-+*/]=)' % (2 * (re.escape(value),)), f.body):
            return False
        local = re.findall(r'(?<![\w.>])%s\s*=(?!=)\s*([^;,]*)' % re.escape(value), f.body)
        return bool(local) and all(self.is_flag(v, f, 0) for v in local)

    def arguments(self, name, f):
        """What the callers of f give for its parameter of that name, and who they are."""
        head = re.search(r'\b%s\s*\(([^{]*)\)' % f.name, f.text).group(1)
        names = [(re.findall(r'\w+', q.split('[')[0]) or [''])[-1] for q in head.split(',')]
        if name not in names:
            return []
        found = []
        for g in (g for g in self.header.functions if f.name in g.body):
            for m in re.finditer(r'\b%s\s*(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))' % f.name, g.body):
                values = re.split(r',(?![^()]*\))', m.group(1)[1:-1])
                found.append((values[names.index(name)] if len(values) == len(names) else '?', g))
        return found

    def list(self):
        return [n for n in self.members if n in self.known]


def writable(header):
    """Objects of static storage that are not const."""
    found = []
    for _, text in header.statements:
        if re.match(r'static\b', text) and not re.match(r'[^={]*\)\s*;', text):
            found.append(re.sub(r'[={].*', '', text, flags=re.S))
    for f in header.functions:
        found += [m.group(1) for m in re.finditer(r'\bstatic\b([^;={]*)', f.body)]
    return [t.strip() for t in found if not re.search(r'\bconst\b[^*]*$', t)]


def prototypes(header):
    return [text for line, text in header.statements
            if line > header.implementation and re.match(r'(static|EMBIPC_API)\b[^={]*\)\s*;', text)]


def row(name, value, more=''):
    print('%-42s %10s  %s' % (name, value, more))


def section_sizes(header):
    """(lines, 'number title') of each section."""
    ends = [s[0] for s in header.sections[1:]] + [len(header.lines)]
    return [(end - s[0], '%s %s' % (s[1], s[2])) for s, end in zip(header.sections, ends)]


def part_lines(header, part):
    return sum(size for (size, _), s in zip(section_sizes(header), header.sections) if part_of(header, s) == part)


def metrics(header):
    calls = Calls(header)
    lines = sorted(f.lines for f in header.functions)
    longest = max(header.functions, key=lambda f: f.lines)
    sizes = section_sizes(header)
    sorted_sizes = sorted(s for s, _ in sizes)
    missing, long = header.undocumented()
    comment = re.sub(r'/\*.*?\*/|//[^\n]*', '', header.text, flags=re.S)
    comment_lines = sum(header.is_comment(i) for i in range(len(header.lines)))
    reached = calls.reached(STEP)
    depth, chain = calls.longest(STEP, lambda f: 1)
    row('bytes', header.bytes)
    row('lines', header.text.count('\n'))
    row('functions', len(lines))
    row('lines per function: median, 90 %, longest',
        '%d %d %d' % (statistics.median(lines), lines[int(0.9 * len(lines))], longest.lines), longest.name)
    row('sections', len(sizes))
    row('lines per section: median, longest', '%d %d' % (statistics.median(sorted_sizes), sorted_sizes[-1]))
    if header.parts:
        row('lines per part', '', ', '.join('%s %d' % (p[1], part_lines(header, p[1])) for p in header.parts))
    big = [s for s in sizes if s[0] > SECTION]
    row('sections above %d lines' % SECTION, len(big), ', '.join('%s (%d)' % (t, n) for n, t in big))
    big = sorted(((len(m), n) for n, m in header.structs if len(m) > MEMBERS), reverse=True)
    row('structs above %d members' % MEMBERS, len(big), ', '.join('%s (%d)' % (n, m) for m, n in big))
    for name in ('embi_body', 'embi_island'):
        found = Flags(header, name).list()
        row('flags in %s' % name, len(found), ', '.join(found))
    row('comments, % of bytes, of lines', '%.1f %.1f' % (100 * (1 - len(comment) / len(header.text)),
                                                         100 * comment_lines / len(header.lines)))
    row('functions longer than %d lines: commented, %%' % LONG, '%.1f' % (100 - 100 * len(missing) / long),
        '%d of %d' % (long - len(missing), long))
    row('functions that a step reaches', len(reached))
    row('longest chain of calls of a step', depth, ' > '.join(chain))
    row('calls downward', len(calls.down), ', '.join('%s > %s' % c for c in calls.down[:5]))
    found = writable(header)
    row('writable statics', len(found), ', '.join(found[:5]))
    row('own prototypes', len(prototypes(header)))
    return 0


# ---- docs-check ----

def docs(header):
    bad, last, covered = 0, None, False
    for start, stop, text in header.public:
        # functions that are declared without a blank line between them share a comment
        shared = covered and last == start - 1 and text.startswith('EMBIPC_API')
        covered = header.has_comment(start) or '/*' in header.lines[stop] or shared
        last = stop if text.startswith('EMBIPC_API') else None
        if not covered:
            bad += 1
            print('%s:%d: public, and no comment: %s' % (header.path, start + 1, ' '.join(text.split())[:80]))
    missing, long = header.undocumented()
    for f in missing:
        print('%s:%d: %s(), %d lines, has no comment directly above' % (header.path, f.start + 1, f.name, f.lines))
    share = 100 - 100 * len(missing) / long
    print('docs-check: %d of %d public declarations, %.1f %% of the functions longer than %d lines have a comment'
          % (len(header.public) - bad, len(header.public), share, LONG))
    return bad > 0 or share < SHARE


# ---- tuning ----

TABLE, PAGE = 'Tuning', os.path.join('docs', 'measured.md')
# Numbers below the table that are no tuning: limits, rounding, room of arrays, constants, cookies.
FIXED = set('''EMBI_HEAD EMBI_STAMP EMBI_FLAT EMBI_MAX_ELEMENTS EMBI_MESH_RANGE EMBI_INSIDE_TOLERANCE
    EMBI_COVER_TOLERANCE EMBI_OVERLAP_TOLERANCE EMBI_CAGE_COOKIE EMBI_CAGE_MAX_CELLS EMBI_CAGE_MARGIN EMBI_CAGE_NODE_CLEAR EMBI_CAGE_TOUCH
    EMBI_CAGE_CORNERS EMBI_CAGE_FLAT EMBI_QUAD EMBI_WIDE EMBI_THIN2 EMBI_FAR2 EMBI_FIXED_POINT EMBI_SHARE_UNIT EMBI_CERTIFICATE_MIDDLE
    EMBI_CCD_KEEP EMBI_CCD_DEEP EMBI_CCD_MEET EMBI_SNAP EMBI_LOW EMBI_BENT EMBI_WIDTHS EMBI_SEARCH_BEYOND EMBI_WORLD_COOKIE
    EMBI_BODY_COOKIE EMBI_DRIVE_COOKIE EMBI_JOINT_COOKIE EMBI_SIZES EMBI_SIZES_AT_MOST
    EMBI_FRICTION_MOST EMBI_SWEEP_UNITS EMBI_WIDE'''.split())
DEFINE = re.compile(r'^#[ \t]*define[ \t]+(EMBI_\w+)(\([^)]*\))?[ \t]+(.*)$')


def plain_value(text):
    """A value without its comment, its cast, and brackets around all of it."""
    text = re.sub(r'/\*.*', '', text).replace('(embipc_real)', '').strip()
    return text[1:-1] if text.startswith('(') and text.endswith(')') and '(' not in text[1:] else text


def rows(path):
    """{name: (value, what was measured)} of the page."""
    if not os.path.exists(path):
        return {}
    with open(path) as file:
        cells = [[c.strip() for c in line.strip().strip('|').split('|')] for line in file if line.startswith('| `')]
    return {re.sub(r'\(.*', '', c[0].strip('`')): (c[1], c[-1]) for c in cells if len(c) > 3}


def tuning(header, root):
    """Faults of the table of tuning values, and a line that counts them."""
    starts = [s[0] for s in header.sections] + [len(header.lines)]
    place = [(starts[i], starts[i + 1]) for i, s in enumerate(header.sections) if s[2] == TABLE]
    if not place:
        return ['there is no section %s' % TABLE], ''
    page, found, seen = rows(os.path.join(root, PAGE)), [], {}
    for i, line in enumerate(header.lines):
        m = DEFINE.match(line)
        if not m or i < place[0][0]:
            continue
        name, value = m.group(1), plain_value(m.group(3))
        if i >= place[0][1]:
            number = re.match(r'\(*\s*-?[\d.]', value) or 'INT_MAX' in value
            if 'EMBI_SHARE(' in value or name in seen or number and name not in FIXED:
                found.append('%s is defined outside section %s' % (name, TABLE))
            continue
        seen[name] = page.get(name, ('', ''))[1]
        if '/*' not in line and not header.has_comment(i - header.lines[i - 1].startswith('#ifndef')):
            found.append('%s has no comment' % name)
        if name not in page:
            found.append('%s has no row in %s' % (name, PAGE))
        elif page[name][0] != value:
            found.append('%s is %s, and %s in %s' % (name, value, page[name][0], PAGE))
    found += ['%s has a row in %s, and is no tuning value' % (n, PAGE) for n in page if n not in seen]
    measured = list(seen.values())
    return found, 'tuning: %d values, %d not measured, %d measured without another value' % (
        len(seen), measured.count('not measured'), sum('not compared' in t for t in measured))


# ---- toc ----

def block(header, word):
    """Line numbers (first, behind the last) of a paragraph of the comment at the top, or None."""
    for i, line in enumerate(header.lines[:header.implementation]):
        if line.startswith(' * %s ' % word):
            end = i
            while header.lines[end].strip() not in ('*', '*/'):
                end += 1
            return i, end
    return None


def part_of(header, section):
    """The number of the part that a section stands in, or None."""
    above = [p[1] for p in header.parts if p[0] < section[0]]
    return above[-1] if above else None


ROMAN = 'I II III IV V VI VII VIII IX X'.split()


def order(header, root):
    """Parts and sections are numbered as they stand, text names sections by their titles; sections and part V are short."""
    found = ['section %s %s stands at place %d' % (s[1], s[2], k + 1)
             for k, s in enumerate(header.sections) if header.parts and s[1] != str(k + 1)]
    found += ['part %s %s stands at place %d' % (p[1], p[2], k + 1)
              for k, p in enumerate(header.parts) if p[1] != ROMAN[k]]
    found += ['section %s %s stands in no part' % s[1:]
              for s in header.sections if header.parts and not part_of(header, s)]
    if header.parts and part_lines(header, 'V') > SPINE:
        found.append('part V, the step, has %d lines, more than %d' % (part_lines(header, 'V'), SPINE))
    found += ['section %s has %d lines, more than %d' % (title, size, SECTION)
              for size, title in section_sizes(header) if size > SECTION]
    titles = {s[2] for s in header.sections}
    for path in [header.path] + [p for where in ('README.md', 'docs/*.md', 'tests/*.[ch]')
                                 for p in sorted(glob.glob(os.path.join(root, where)))]:
        with open(path) as file:
            text = re.sub(r'\s*\n \*\s*', ' ', file.read())
        found += ['%s names chapter "%s", and there is none' % (os.path.basename(path), name)
                  for m in re.finditer(r'\b[Cc]hapters?((?:(?:,|,? and|;)?\s+"[^"]*")+)', text)
                  for name in re.findall(r'"([^"]*)"', m.group(1)) if name not in titles]
    return found


def number(header):
    """Gives the sections the numbers of their places."""
    for k, (line, _, title) in enumerate(header.sections):
        text = '/* ==== %d. %s ' % (k + 1, title)
        header.lines[line] = text + '=' * max(len(header.lines[line]) - len(text), 5)
        header.sections[k] = line, str(k + 1), title


def contents(header):
    public = [m.group(1).rstrip() for m in re.finditer(r'^/\* ---- (.*?) -{4,}', header.text, re.M)
              if header.line(m.start()) < header.implementation]
    lines = [" * CONTENTS  (`make toc` compares it with the banners; grep -n '==== ' embipc.h lists those)"]
    groups = [('Public', public)]
    if header.parts:
        groups += [('Part %s. %s' % p[1:], ['%s %s' % s[1:] for s in header.sections if part_of(header, s) == p[1]])
                   for p in header.parts]
    else:
        groups.append(('Implementation', ['%s %s' % s[1:] for s in header.sections]))
    for what, titles in groups:
        # a title is not broken
        text = '%s: %s.' % (what, '; '.join(t.replace(' ', '\0').replace('-', '\1') for t in titles))
        lines += textwrap.wrap(text, width=WIDTH, initial_indent=' *   ', subsequent_indent=' *   ')
    return [line.replace('\0', ' ').replace('\1', '-') for line in lines]


def banner(header, line):
    start = header.starts[line]
    return re.sub(r'\s*\n \*\s*', ' ', header.text[start:header.text.index('*/', start)])


def uses(header, root):
    """What the banners say of other sections, and of their tests, must be there, and be all that is called."""
    found, above = [], []
    for line, number, title in header.sections:
        text = banner(header, line)
        m = re.search(r'Uses: (.*?)\.(?: |$)', text)
        names = m.group(1).split(', ') if m else []
        for part in [n[5:] for n in names if n.startswith('part ')]:
            whole = [s[2] for s in header.sections if s[0] < line and part_of(header, s) == part]
            names = [n for n in names if n != 'part ' + part] + (whole or ['part ' + part])
        for name in names:
            if name not in ('libc', 'libm', EVERYTHING) and not any(begins(t, name) for t in above):
                found.append('section %s uses "%s", and no section above begins so' % (number, name))
        if EVERYTHING not in names:
            found += ['section %s calls %s() of "%s", and does not say so' % (number, g, t)
                      for t, g in called(header, title) if not any(begins(t, n) for n in names + ['platform'])]
        m = re.search(r'Checked by: (.*?) *$', text)
        for name in m.group(1).split(', ') if m else ():
            if not glob.glob(os.path.join(root, 'tests', os.path.basename(name))):
                found.append('section %s is checked by %s, and there is none' % (number, name))
        above.append(title)
    return found


def contract(header):
    """Chapters whose banner says `Part of the search` are called from the part below theirs only by the functions that
    the banner of their part lists."""
    hidden = {s[2] for s in header.sections if 'Part of the search.' in banner(header, s[0])}
    places = {part_of(header, s) for s in header.sections if s[2] in hidden}
    listed = {}
    for line, number, _ in header.parts:
        end = header.text.index('*/', header.starts[line])
        listed[number] = re.findall(r'^ \*   (embi\w+)\(\)', header.text[header.starts[line]:end], re.M)
    found = ['part %s lists %s(), and there is none' % (p, n) for p in listed for n in listed[p] if n not in header.named]
    below = {p[1] for k, p in enumerate(header.parts) if not p[2].startswith('Around the step')
             and any(q[1] in places for q in header.parts[:k])}
    starts, calls = [s[0] for s in header.sections], Calls(header)
    section = lambda f: header.sections[bisect.bisect(starts, f.start) - 1]
    for f in header.functions:
        if f.start < starts[0] or part_of(header, section(f)) not in below:
            continue
        for g in sorted(calls.to[f.name]):
            home = section(header.named[g][0])
            if home[2] in hidden and g not in listed[part_of(header, home)]:
                found.append('%s() calls %s() of "%s", which is not in the contract of part %s'
                             % (f.name, g, home[2], part_of(header, home)))
    return found


EVERYTHING = 'all of the above'


def begins(title, name):
    return title.lower().startswith(name.lower())


def called(header, title):
    """(section, function) for each other section that functions of this one call, with one such function."""
    if not hasattr(header, 'between'):
        header.between, starts, calls = {}, [s[0] for s in header.sections], Calls(header)
        section = lambda f: header.sections[bisect.bisect(starts, f.start) - 1][2]
        for f in header.functions:
            one = len(header.named[f.name]) == 1   # else a call of the other, left out by the preprocessor, is not its own
            for g in sorted(g for g in calls.to[f.name] if one or g in f.text):
                header.between.setdefault(section(f), {}).setdefault(section(header.named[g][0]), g)
    return [(t, g) for t, g in header.between.get(title, {}).items() if t != title]


def equations(header):
    """Each row of the table begins with what it is about, numbers of equations or a word, and names functions."""
    place = block(header, 'EQUATIONS')
    if not place:
        return ['the table of equations is missing']
    found, numbers = [], set()
    for text in re.split(r'^ \*   (?=\S)', '\n'.join(header.lines[place[0]:place[1]]), flags=re.M)[1:]:
        what = re.match(r'[-\d, ]+|\w+', text).group().strip()
        if what[0].isdigit():
            for m in re.finditer(r'(\d+)(?:-(\d+))?', what):
                numbers |= set(range(int(m.group(1)), int(m.group(2) or m.group(1)) + 1))
        names = re.findall(r'\bembi(?:pc)?_\w+', text)
        if not names:
            found.append('equation %s names no function' % what)
        found += ['equation %s names %s(), and there is none' % (what, n) for n in names if n not in header.named]
    return found + ['equation %d is missing' % n for n in range(1, EQUATIONS + 1) if n not in numbers]


def toc(header, write):
    place = block(header, 'CONTENTS')
    if not place:
        sys.exit('toc: no CONTENTS at the top of %s' % header.path)
    found = []
    if write and header.parts:
        number(header)
    wanted = contents(header)
    if header.lines[place[0]:place[1]] != wanted or write and '\n'.join(header.lines) != header.text:
        if write:
            with open(header.path, 'w') as file:
                file.write('\n'.join(header.lines[:place[0]] + wanted + header.lines[place[1]:]))
            print('toc: the contents were written anew')
        else:
            have = ' '.join(l[3:].strip() for l in header.lines[place[0]:place[1]])
            lost = [t for s in header.sections for t in ['%s %s' % s[1:]] if t not in have]
            found.append('the contents are not those of the banners (make toc WRITE=1 mends that)%s'
                         % (': missing are ' + '; '.join(lost) if lost else ''))
    root = os.path.dirname(header.path) or '.'
    faults, count = tuning(header, root)
    found += order(header, root) + uses(header, root) + contract(header) + equations(header) + faults
    for text in found:
        print('toc: ' + text)
    if count:
        print(count)
    if not found:
        print('toc: contents, uses and equations of %d sections name what is there' % len(header.sections))
    return bool(found)


# ---- stack ----

def frames(path):
    """Bytes of each function's frame: the largest of its copies, and all of the parts that gcc split off."""
    whole, parts, unbounded = {}, {}, set()
    with open(path) as file:
        for line in file:
            where, size, kind = line.rstrip('\n').split('\t')
            name = where.split(':')[-1]
            base = name.split('.')[0]
            if '.part.' in name or '.cold' in name:
                parts[base] = parts.get(base, 0) + int(size)
            else:
                whole[base] = max(whole.get(base, 0), int(size))
            if kind == 'dynamic':
                unbounded.add(base)
    return {n: whole.get(n, 0) + parts.get(n, 0) for n in set(whole) | set(parts)}, unbounded


def stack(header, path):
    calls = Calls(header)
    size, unbounded = frames(path)
    # the caller's parallel_for is our pool, which runs the ranges itself
    for f, pointers in calls.indirect.items():
        if 'parallel_for' in pointers and 'embipc_pool_for' in header.named:
            calls.to[f].add('embipc_pool_for')
    frame = lambda f: size.get(f, 0)   # what gcc inlined everywhere stands in its callers' frames
    runs = [f for f, pointers in calls.indirect.items() if 'fn' in pointers]
    between = {}

    def through(h):
        """Bytes from h down to the call through a pointer, both frames included."""
        if h not in between:
            between[h] = 0
            below = [through(g) for g in calls.to.get(h, ()) if g in runs or calls.reached(g) & set(runs)]
            between[h] = frame(h) + max(below, default=0)
        return between[h]

    def extra(f, g):
        return max((through(h) for h, name in calls.handed.get(f, ()) if name == g and h), default=0)

    reached = calls.reached(STEP)
    if not any(f in size for f in reached):
        sys.exit('stack: %s holds no function of a step' % path)
    bound, chain = calls.longest(STEP, frame, extra)
    recursive = calls.recursive(reached)
    unbounded = sorted(unbounded & reached)
    print('largest frames of a step: ' + ', '.join(
        '%s %d' % (f, size[f]) for f in sorted(reached & set(size), key=lambda f: -size[f])[:8]))
    print('deepest chain: ' + ' > '.join('%s %d' % (f, frame(f)) for f in chain if frame(f)))
    print('recursion: ' + (', '.join(recursive) or 'none'))
    if recursive or unbounded:
        print('stack: no bound; frames of unknown size: ' + (', '.join(unbounded) or 'none'))
    else:
        print('stack: a step takes at most %d bytes (libc and the caller\'s callbacks besides)' % bound)
    return bool(recursive or unbounded)


def main(arguments):
    what = arguments[0] if arguments else ''
    names = [a for a in arguments[1:] if not a.startswith('-')]
    header = Header(names[0] if names else 'embipc.h')
    if what == 'metrics':
        return metrics(header)
    if what == 'docs':
        return docs(header)
    if what == 'toc':
        return toc(header, '--write' in arguments)
    if what == 'stack' and len(names) == 2:
        return stack(header, names[1])
    sys.exit(__doc__)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
