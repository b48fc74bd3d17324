"""Where the bytes of worlds are. Usage: memory.py PROGRAM HEADER < rows of tests/test_memory.c with MEMORY_ROWS."""
import collections
import re
import subprocess
import sys

SHOWN = 12   # rows of each world
ALLOCATORS = {"note", "embi_alloc_bytes", "embi_alloc_counted", "embi_alloc", "embi_grow"}

program, header = sys.argv[1:3]
source = open(header).read().split("\n")
rows = sys.stdin.read().split("\n")
addresses = sorted({a for row in rows for a in row.split() if a.startswith("0x")})
# an address is that of the return: the call stands before it
told = subprocess.run(["addr2line", "-f", "-e", program] + [hex(int(a, 16) - 1) for a in addresses],
                      capture_output=True, text=True, check=True).stdout.split("\n")
place = {a: (told[2 * i], told[2 * i + 1]) for i, a in enumerate(addresses)}


def arrays(line):
    """The arrays that a line of the header makes."""
    return ", ".join(re.findall(r"EMBI_(?:GROW|ROOM)\([^,]*, ([^,]*),", line)) or line.strip().split(" = ")[0]


def show(name, bytes_of, count_of):
    if not name: return
    print(f"{name}: {sum(bytes_of.values())} bytes")
    for key, size in bytes_of.most_common(SHOWN):
        print(f"{size:10d} {count_of[key]:6d}  {key}")


print("     bytes arrays  made by: names")
name, bytes_of, count_of = "", collections.Counter(), collections.Counter()
for row in rows:
    if row.startswith("# "):
        show(name, bytes_of, count_of)
        name, bytes_of, count_of = row[2:], collections.Counter(), collections.Counter()
    elif row:
        size, *calls = row.split()
        for call in calls:
            function, where = place.get(call, ("", ""))
            if function in ALLOCATORS: continue
            number = where.split(":")[-1].split()[0]
            key = f"{function}: {arrays(source[int(number) - 1])}" if number.isdigit() else function
            bytes_of[key] += int(size)
            count_of[key] += 1
            break
show(name, bytes_of, count_of)
