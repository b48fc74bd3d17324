/* Plots as SVG: axes with ticks, curves with their names at the right, references grey and dashed. */
#include "paper.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLOT_WIDTH 860
#define PLOT_LEFT 76
#define PLOT_RIGHT 210      /* room for the names */
#define PLOT_TOP 34
#define PLOT_BOTTOM 48
#define PLOT_LINE_HEIGHT 15

plot plot_make(const char *title, const char *x_label, const char *y_label)
{
    plot g;
    memset(&g, 0, sizeof g);
    snprintf(g.title, sizeof g.title, "%s", title);
    snprintf(g.x_label, sizeof g.x_label, "%s", x_label);
    snprintf(g.y_label, sizeof g.y_label, "%s", y_label);
    g.height = 340;
    return g;
}

void plot_add(plot *g, const char *label, const double *x, const double *y, int count, int style)
{
    plot_curve *c;
    if (g->count == PLOT_CURVES || count <= 0) return;
    c = &g->curve[g->count++];
    snprintf(c->label, sizeof c->label, "%s", label);
    c->style = style;
    c->x = (double *)tool_alloc((size_t)count, sizeof *c->x);
    c->y = (double *)tool_alloc((size_t)count, sizeof *c->y);
    for (int i = 0; i < count; i++)
        if (isfinite(x[i]) && isfinite(y[i]) && (!g->log_x || x[i] > 0) && (!g->log_y || y[i] > 0)) {
            c->x[c->count] = x[i];
            c->y[c->count++] = y[i];
        }
}

void plot_level(plot *g, const char *label, double y, double x0, double x1)
{
    double x[2], v[2];
    x[0] = x0; x[1] = x1;
    v[0] = v[1] = y;
    plot_add(g, label, x, v, 2, PLOT_LINE | PLOT_REFERENCE);
}

/* ---- Axes ----------------------------------------------------------------------------------- */

typedef struct plot_axis {
    double low, high, from, to;   /* values, and where they are drawn */
    int is_log;
} plot_axis;

static double axis_at(const plot_axis *a, double v)
{
    double s = a->is_log ? (log(v) - log(a->low)) / (log(a->high) - log(a->low)) : (v - a->low) / (a->high - a->low);
    return a->from + s * (a->to - a->from);
}

/* 1, 2 or 5 times a power of ten: about `wish` of them in the range */
static double axis_step(double range, int wish)
{
    double raw = range / wish, power = pow(10, floor(log10(raw))), m = raw / power;
    return power * (m < 1.5 ? 1 : m < 3.5 ? 2 : m < 7.5 ? 5 : 10);
}

static void axis_fit(plot_axis *a, const plot *g, int is_y)
{
    a->low = INFINITY;
    a->high = -INFINITY;
    for (int k = 0; k < g->count; k++)
        for (int i = 0; i < g->curve[k].count; i++) {
            double v = is_y ? g->curve[k].y[i] : g->curve[k].x[i];
            a->low = fmin(a->low, v);
            a->high = fmax(a->high, v);
        }
    if (is_y && g->has_range) { a->low = g->y_low; a->high = g->y_high; return; }
    if (!(a->low <= a->high)) { a->low = a->is_log ? 1 : 0; a->high = a->is_log ? 10 : 1; }
    if (a->is_log) {
        double pad = pow(a->high / a->low, 0.06);
        if (!(pad > 1.05)) pad = 1.2;
        a->low /= pad;
        a->high *= pad;
        return;
    }
    if (a->high - a->low < 1e-12 * fabs(a->high) + 1e-300) { a->low -= 0.5 * fabs(a->low) + 1e-9; a->high += 0.5 * fabs(a->high) + 1e-9; }
    if (is_y) {
        double step = axis_step(a->high - a->low, 5);
        a->low = step * floor(a->low / step + 1e-9);
        a->high = step * ceil(a->high / step - 1e-9);
    }
}

/* text of a tick; powers of ten where the number would be long */
static void put_number(tool_text *t, double v)
{
    double a = fabs(v);
    int e;
    if (a == 0 || (a >= 1e-3 && a < 1e5)) { tool_put(t, "%.6g", v); return; }
    e = (int)floor(log10(a) + 1e-9);
    v /= pow(10, e);
    if (fabs(v - 1) > 1e-6) tool_put(t, "%.3g·", v);
    tool_put(t, "10<tspan dy=\"-5\" font-size=\"9\">%d</tspan>", e);
}

static void put_tick(tool_text *t, const plot_axis *a, double v, int is_y, double other0, double other1, int text)
{
    double at = axis_at(a, v);
    if (is_y) tool_put(t, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>", other0, at, other1);
    else tool_put(t, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>", at, other0, other1);
    if (!text) return;
    if (is_y) tool_put(t, "<text class=\"q\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", other0 - 7, at + 4);
    else tool_put(t, "<text class=\"q\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", at, other0 + 17);
    put_number(t, v);
    tool_put(t, "</text>\n");
}

/* other0: where the axis stands, other1: the far side, across */
static void put_ticks(tool_text *t, const plot_axis *a, int is_y, double other0, double other1)
{
    if (a->is_log) {
        double decades = log10(a->high / a->low);
        for (int e = (int)floor(log10(a->low)); e <= (int)ceil(log10(a->high)); e++)
            for (int m = 1; m < 10; m++) {
                double v = m * pow(10, e);
                if (v < a->low * 0.9999 || v > a->high * 1.0001 || (decades > 3 && m > 1)) continue;
                put_tick(t, a, v, is_y, other0, other1, m == 1 || decades < 0.7 || (decades < 1.6 && (m == 2 || m == 5)));
            }
        return;
    }
    {
        double step = axis_step(a->high - a->low, is_y ? 5 : 8);
        for (double v = step * ceil(a->low / step - 1e-9); v <= a->high + 1e-9 * step; v += step)
            put_tick(t, a, fabs(v) < 1e-9 * step ? 0 : v, is_y, other0, other1, 1);
    }
}

/* ---- Curves --------------------------------------------------------------------------------- */

/* x at the boundary of the box where a segment leaves it; curves outside y_low .. y_high are cut there */
static double clamp(double v, double a, double b) { return fmin(fmax(v, fmin(a, b)), fmax(a, b)); }

static void put_curve(tool_text *t, const plot_curve *c, int colour, const plot_axis *x, const plot_axis *y)
{
    double last = NAN;
    if (c->style & PLOT_LINE) {
        if (c->style & PLOT_REFERENCE) tool_put(t, "<path class=\"ref\" d=\"");
        else tool_put(t, "<path class=\"curve k%d\" d=\"", colour);
        for (int i = 0; i < c->count; i++) {
            double px = axis_at(x, c->x[i]), py = clamp(axis_at(y, c->y[i]), y->from, y->to);
            if (i && i < c->count - 1 && c->count > 1500 && fabs(px - last) < 0.25) continue;
            tool_put(t, "%c%.1f %.1f", i ? 'L' : 'M', px, py);
            last = px;
        }
        tool_put(t, "\"/>\n");
    }
    for (int i = 0; i < c->count && (c->style & PLOT_POINTS); i++) {
        double px = axis_at(x, c->x[i]), py = clamp(axis_at(y, c->y[i]), y->from, y->to);
        if (c->style & PLOT_REFERENCE) tool_put(t, "<circle class=\"refdot\" r=\"4\" cx=\"%.1f\" cy=\"%.1f\"/>", px, py);
        else tool_put(t, "<circle class=\"f%d\" r=\"3.2\" cx=\"%.1f\" cy=\"%.1f\"/>", colour, px, py);
    }
}

/* The names beside the ends of their curves, pushed apart where they would overlap, with a line to the end. */
static void put_labels(tool_text *t, const plot *g, const int *colour, const plot_axis *x, const plot_axis *y)
{
    int order[PLOT_CURVES], n = 0;
    double want[PLOT_CURVES], at[PLOT_CURVES], end = x->to;
    for (int k = 0; k < g->count; k++) {
        const plot_curve *c = &g->curve[k];
        int i = n;
        if (!c->count || !c->label[0]) continue;
        want[k] = clamp(axis_at(y, c->y[c->count - 1]), y->from, y->to);
        for (; i > 0 && want[order[i - 1]] > want[k]; i--) order[i] = order[i - 1];
        order[i] = k;
        n++;
    }
    for (int i = 0; i < n; i++) at[i] = want[order[i]];
    for (int pass = 0; pass < 400; pass++)
        for (int i = 0; i + 1 < n; i++) {
            double short_by = PLOT_LINE_HEIGHT - (at[i + 1] - at[i]);
            if (short_by > 0) { at[i] -= short_by / 2; at[i + 1] += short_by / 2; }
        }
    for (int i = 0; i < n; i++) {
        const plot_curve *c = &g->curve[order[i]];
        double px = axis_at(x, c->x[c->count - 1]);
        tool_put(t, "<path class=\"lead\" d=\"M%.1f %.1fL%.1f %.1fH%.1f\"/>", px + 4, want[order[i]], end + 8, at[i], end + 12);
        if (c->style & PLOT_REFERENCE) tool_put(t, "<text class=\"q\" x=\"%.1f\" y=\"%.1f\">", end + 15, at[i] + 4);
        else tool_put(t, "<text style=\"fill:var(--c%d)\" x=\"%.1f\" y=\"%.1f\">", colour[order[i]], end + 15, at[i] + 4);
        tool_put(t, "%s</text>\n", c->label);
    }
}

/* The names once more, for small screens, where the plot scrolls and its right side is out of view. */
static void put_legend(tool_text *t, const plot *g, const int *colour)
{
    tool_put(t, "<p class=\"legend\">");
    for (int k = 0; k < g->count; k++) {
        const plot_curve *c = &g->curve[k];
        if (!c->count || !c->label[0]) continue;
        if (c->style & PLOT_REFERENCE) tool_put(t, "<span class=\"quiet\">- - %s</span> ", c->label);
        else tool_put(t, "<span style=\"color:var(--c%d)\">― %s</span> ", colour[k], c->label);
    }
    tool_put(t, "</p>");
}

void plot_draw(paper *p, plot *g, const char *caption, ...)
{
    tool_text *t = &p->body;
    plot_axis x, y;
    va_list args;
    char text[2000];
    int colour[PLOT_CURVES], used = 0;
    memset(&x, 0, sizeof x);
    memset(&y, 0, sizeof y);
    x.is_log = g->log_x;
    y.is_log = g->log_y;
    axis_fit(&x, g, 0);
    axis_fit(&y, g, 1);
    x.from = PLOT_LEFT;
    x.to = PLOT_WIDTH - PLOT_RIGHT;
    y.from = g->height - PLOT_BOTTOM;
    y.to = PLOT_TOP;
    for (int k = 0; k < g->count; k++) colour[k] = g->curve[k].style & PLOT_REFERENCE ? 0 : used++ % 8;
    tool_put(t, "<figure>\n");
    put_legend(t, g, colour);
    tool_put(t, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n", PLOT_WIDTH, g->height, g->title);
    tool_put(t, "<text class=\"t\" x=\"%d\" y=\"18\">%s</text>\n", PLOT_LEFT, g->title);
    put_ticks(t, &x, 0, y.from, y.to);
    put_ticks(t, &y, 1, x.from, x.to);
    tool_put(t, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", x.from, y.to, y.from, x.to);
    tool_put(t, "<text class=\"q\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", (x.from + x.to) / 2, g->height - 10, g->x_label);
    tool_put(t, "<text class=\"q\" transform=\"translate(16 %.1f) rotate(-90)\" text-anchor=\"middle\">%s</text>\n", (y.from + y.to) / 2, g->y_label);
    for (int k = 0; k < g->count; k++)
        if (g->curve[k].style & PLOT_REFERENCE) put_curve(t, &g->curve[k], 0, &x, &y);
    for (int k = 0; k < g->count; k++)
        if (!(g->curve[k].style & PLOT_REFERENCE)) put_curve(t, &g->curve[k], colour[k], &x, &y);
    put_labels(t, g, colour, &x, &y);
    va_start(args, caption);
    (void)vsnprintf(text, sizeof text, caption, args);
    va_end(args);
    tool_put(t, "</svg><figcaption>%s</figcaption></figure>\n", text);
    for (int k = 0; k < g->count; k++) { free(g->curve[k].x); free(g->curve[k].y); }
    g->count = 0;
}
