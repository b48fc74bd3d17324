# Splits the implementation in embipc.h, so that tests that look inside it share one compilation of it.
#   make=h  everything but the bodies of its longer functions: what a test includes, by tests/inside.h
#   make=c  everything, these functions without "static": what is compiled once; a test may put its own in place of two
# A function's name begins in the first column, and so does the bracket that closes a body of its own lines.
BEGIN { replaced = "embi_default_(alloc|free)[(]"; if (make == "h") print "/* made by tests/inside.awk */"; else print "#line 1 \"embipc.h\"" }
/^#ifdef EMBIPC_IMPLEMENTATION/ { inside = 1 }
!inside { if (make == "c") print; next }
body { if (make == "c") print; if (/^}/) body = 0; next }
!head && !/^static inline/ && /^(static|EMBIPC_API|__attribute__)[^=]*\(/ { head = 1; public = /^EMBIPC_API/; signature = "" }
head {
    signature = signature (signature == "" ? "" : "\n") $0
    if (!/[{]/ && !/[);]$/) next
    head = 0
    if (/[{]/) { if (make == "c" || !public) print signature; body = !/}[^}]*$/; next }   # of one line: stays static
    body = 1
    if (make == "c") { if (!public) sub(/static /, signature ~ replaced ? "__attribute__((weak)) " : "", signature); print signature }
    else if (!public) { sub(/static /, "", signature); print signature ";" }
    next
}
{ print }
