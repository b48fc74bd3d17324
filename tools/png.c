/* PNG writer. Four layers, bottom up: bytes and check sums, deflate (RFC 1951), the PNG file, animations.
 * Deflate here finds repeats with a hash chain and codes every block with Huffman codes made for it
 * (dynamic blocks only); rows are filtered first, because a smooth picture has small differences. */
#include "png.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ==== 1. Bytes and check sums ================================================================ */

/* A byte string that grows; `failed` stays set once memory was short, so callers ask only at the end. */
typedef struct png_bytes {
    unsigned char *data;
    size_t size, room;
    uint32_t bits;      /* bits not yet written, the first one lowest */
    int bit_count;
    int failed;
} png_bytes;

static void png_byte(png_bytes *b, unsigned value)
{
    if (b->size == b->room) {
        size_t room = b->room ? 2 * b->room : 4096;
        unsigned char *data = b->failed ? NULL : (unsigned char *)realloc(b->data, room);
        if (!data) {
            b->failed = 1;
            return;
        }
        b->data = data;
        b->room = room;
    }
    b->data[b->size++] = (unsigned char)(value & 255);
}

/* 32 bits, the highest byte first, as everything in PNG */
static void png_word(png_bytes *b, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8) png_byte(b, (unsigned)(value >> shift));
}

/* count <= 16 bits of value, the lowest first, as everything in deflate but the Huffman codes */
static void png_put(png_bytes *b, unsigned value, int count)
{
    b->bits |= (uint32_t)value << b->bit_count;
    b->bit_count += count;
    while (b->bit_count >= 8) {
        png_byte(b, b->bits & 255);
        b->bits >>= 8;
        b->bit_count -= 8;
    }
}

static void png_flush(png_bytes *b)
{
    if (b->bit_count > 0) png_put(b, 0, 8 - b->bit_count);
}

/* CRC with the polynomial x^32 + x^26 + ... + 1, bits reversed (0xEDB88320), one byte at a time */
uint32_t png_crc32(uint32_t crc, const unsigned char *data, size_t size)
{
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int k = 0; k < 8; k++) crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320u : 0u);
    }
    return ~crc;
}

/* two sums modulo the largest prime below 65536: of the bytes, and of the running sums */
uint32_t png_adler32(uint32_t adler, const unsigned char *data, size_t size)
{
    uint32_t a = adler & 65535, b = adler >> 16;
    for (size_t i = 0; i < size; i++) {
        a = (a + data[i]) % 65521u;
        b = (b + a) % 65521u;
    }
    return b << 16 | a;
}

/* ==== 2. Deflate ============================================================================= */

enum {
    PNG_WINDOW = 32768,     /* how far back a repeat may start */
    PNG_HASH = 1 << 15,
    PNG_CHAIN = 48,         /* earlier places tried for a repeat */
    PNG_SHORTEST = 3,
    PNG_LONGEST = 258,
    PNG_BLOCK = 1 << 16,    /* literals and repeats coded with one set of Huffman codes */
    PNG_SYMBOLS = 286,      /* 256 literals, end of block, 29 length classes */
    PNG_DISTANCES = 30
};

/* A Huffman code: length and bits of each symbol. */
typedef struct png_code {
    int length[PNG_SYMBOLS];
    unsigned bits[PNG_SYMBOLS];
} png_code;

/* Code lengths by Huffman's rule: join the two rarest nodes until one is left. Returns the longest length. */
static int png_huffman(int *length, const unsigned *count, int n)
{
    unsigned weight[2 * PNG_SYMBOLS];
    int parent[2 * PNG_SYMBOLS], open[PNG_SYMBOLS], open_count = 0, nodes = n, longest = 0;
    for (int i = 0; i < n; i++) {
        weight[i] = count[i];
        if (count[i]) open[open_count++] = i;
    }
    while (open_count > 1) {
        for (int pick = 0; pick < 2; pick++) {   /* the rarest to the end of the list, then the next one */
            int last = open_count - 1 - pick, best = 0, t;
            for (int i = 1; i <= last; i++)
                if (weight[open[i]] < weight[open[best]]) best = i;
            t = open[best]; open[best] = open[last]; open[last] = t;
        }
        weight[nodes] = weight[open[open_count - 1]] + weight[open[open_count - 2]];
        parent[open[open_count - 1]] = parent[open[open_count - 2]] = nodes;
        open[open_count - 2] = nodes++;
        open_count--;
    }
    for (int i = 0; i < n; i++) {
        length[i] = 0;
        if (count[i])
            for (int node = i; node != nodes - 1; node = parent[node]) length[i]++;
        if (length[i] > longest) longest = length[i];
    }
    return longest;
}

/* A code of at most `limit` bits for the counts. Deflate wants at least two symbols in a complete code, and
 * a limit: counts are flattened until Huffman's tree is that shallow. Bits are those of the canonical code,
 * reversed, because deflate writes codes highest bit first. */
static void png_make_code(png_code *code, unsigned *count, int n, int limit)
{
    unsigned next = 0;
    int used = 0;
    for (int i = 0; i < n; i++) used += count[i] > 0;
    for (int i = 0; used < 2; i++)
        if (!count[i]) {
            count[i] = 1;
            used++;
        }
    while (png_huffman(code->length, count, n) > limit)
        for (int i = 0; i < n; i++)
            if (count[i]) count[i] = count[i] / 4 + 1;
    for (int size = 1; size <= limit; size++, next <<= 1)
        for (int i = 0; i < n; i++) {
            if (code->length[i] != size) continue;
            code->bits[i] = 0;
            for (int k = 0; k < size; k++) code->bits[i] |= (next >> k & 1u) << (size - 1 - k);
            next++;
        }
}

static void png_symbol(png_bytes *out, const png_code *code, int symbol)
{
    png_put(out, code->bits[symbol], code->length[symbol]);
}

/* The classes of repeat lengths and of distances follow one rule: from `start` on, class sizes double every
 * `step` classes. Gives the class of value (counted from 0), its extra bits and their value. */
static int png_class(int value, int step, int *extra_bits, int *extra)
{
    int class_index = 0, bits = 0, first = 0;
    for (;;) {
        if (class_index >= 2 * step && class_index % step == 0) bits++;
        if (value < first + (1 << bits)) break;
        first += 1 << bits;
        class_index++;
    }
    *extra_bits = bits;
    *extra = value - first;
    return class_index;
}

/* symbol and extra bits of a repeat length 3..258; 258 has a class of its own */
static int png_length_symbol(int length, int *extra_bits, int *extra)
{
    *extra_bits = *extra = 0;
    return length == PNG_LONGEST ? 285 : 257 + png_class(length - PNG_SHORTEST, 4, extra_bits, extra);
}

/* One block: tokens are a literal 0..255, or distance << 9 | length for a repeat. */
static void png_block(png_bytes *out, const uint32_t *token, int token_count, int last)
{
    static const unsigned char order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    unsigned symbols[PNG_SYMBOLS] = {0}, distances[PNG_DISTANCES] = {0}, lengths[19] = {0};
    png_code symbol_code, distance_code, length_code;
    int bits, extra;
    for (int i = 0; i < token_count; i++) {
        if (token[i] < 256) symbols[token[i]]++;
        else {
            symbols[png_length_symbol((int)(token[i] & 511), &bits, &extra)]++;
            distances[png_class((int)(token[i] >> 9) - 1, 2, &bits, &extra)]++;
        }
    }
    symbols[256] = 1;
    png_make_code(&symbol_code, symbols, PNG_SYMBOLS, 15);
    png_make_code(&distance_code, distances, PNG_DISTANCES, 15);
    for (int i = 0; i < PNG_SYMBOLS; i++) lengths[symbol_code.length[i]]++;
    for (int i = 0; i < PNG_DISTANCES; i++) lengths[distance_code.length[i]]++;
    png_make_code(&length_code, lengths, 19, 7);

    png_put(out, (unsigned)(last != 0), 1);
    png_put(out, 2, 2);                        /* dynamic codes */
    png_put(out, PNG_SYMBOLS - 257, 5);
    png_put(out, PNG_DISTANCES - 1, 5);
    png_put(out, 19 - 4, 4);
    for (int i = 0; i < 19; i++) png_put(out, (unsigned)length_code.length[order[i]], 3);
    for (int i = 0; i < PNG_SYMBOLS; i++) png_symbol(out, &length_code, symbol_code.length[i]);
    for (int i = 0; i < PNG_DISTANCES; i++) png_symbol(out, &length_code, distance_code.length[i]);
    for (int i = 0; i < token_count; i++) {
        if (token[i] < 256) png_symbol(out, &symbol_code, (int)token[i]);
        else {
            png_symbol(out, &symbol_code, png_length_symbol((int)(token[i] & 511), &bits, &extra));
            png_put(out, (unsigned)extra, bits);
            png_symbol(out, &distance_code, png_class((int)(token[i] >> 9) - 1, 2, &bits, &extra));
            png_put(out, (unsigned)extra, bits);
        }
    }
    png_symbol(out, &symbol_code, 256);
}

static unsigned png_hash(const unsigned char *p)
{
    return ((uint32_t)(p[0] | p[1] << 8 | p[2] << 16) * 2654435761u) >> 17;
}

/* The longest repeat at `at` of something that starts in the window; 0 when none is long enough. */
static int png_repeat(const unsigned char *data, int size, int at, int candidate, const int *earlier,
                      int *distance)
{
    int best = 0, limit = size - at < PNG_LONGEST ? size - at : PNG_LONGEST;
    for (int tries = 0; tries < PNG_CHAIN && candidate >= 0 && at - candidate <= PNG_WINDOW; tries++) {
        int length = 0;
        while (length < limit && data[candidate + length] == data[at + length]) length++;
        if (length > best) {
            best = length;
            *distance = at - candidate;
            if (best == limit) break;
        }
        candidate = earlier[candidate % PNG_WINDOW];
    }
    return best >= PNG_SHORTEST ? best : 0;
}

/* data as a zlib stream (RFC 1950): two bytes of head, deflate blocks, Adler-32 */
static void png_deflate(png_bytes *out, const unsigned char *data, int size)
{
    int *head = (int *)malloc(sizeof(int) * PNG_HASH), *earlier = (int *)malloc(sizeof(int) * PNG_WINDOW);
    uint32_t *token = (uint32_t *)calloc(PNG_BLOCK, sizeof(uint32_t));
    int token_count = 0, at = 0;
    if (!head || !earlier || !token) out->failed = 1;
    else {
        png_byte(out, 0x78);
        png_byte(out, 0x9C);
        for (int i = 0; i < PNG_HASH; i++) head[i] = -1;
        while (at < size) {
            int length = 0, distance = 0, stop;
            if (size - at >= PNG_SHORTEST)
                length = png_repeat(data, size, at, head[png_hash(data + at)], earlier, &distance);
            token[token_count++] = length ? (uint32_t)distance << 9 | (uint32_t)length : data[at];
            for (stop = at + (length ? length : 1); at < stop; at++) {
                if (size - at < PNG_SHORTEST) continue;
                earlier[at % PNG_WINDOW] = head[png_hash(data + at)];
                head[png_hash(data + at)] = at;
            }
            if (token_count == PNG_BLOCK && at < size) {
                png_block(out, token, token_count, 0);
                token_count = 0;
            }
        }
        png_block(out, token, token_count, 1);
        png_flush(out);
        png_word(out, png_adler32(1, data, (size_t)size));
    }
    free(head);
    free(earlier);
    free(token);
}

/* ==== 3. The file ============================================================================ */

/* What filter `kind` predicts for a byte from its left, upper and upper left neighbours. */
static int png_predict(int kind, int left, int up, int corner)
{
    int p = left + up - corner, dl = abs(p - left), du = abs(p - up), dc = abs(p - corner);
    switch (kind) {
    case 1: return left;
    case 2: return up;
    case 3: return (left + up) / 2;
    case 4: return dl <= du && dl <= dc ? left : du <= dc ? up : corner;
    default: return 0;
    }
}

/* One row with the filter that leaves the smallest sum of absolute differences; out has 1 + n bytes. */
static void png_filter_row(unsigned char *out, const unsigned char *row, const unsigned char *above, int n)
{
    long best = -1;
    for (int pass = 0, chosen = 0; pass < 6; pass++) {
        int kind = pass < 5 ? pass : chosen;
        long sum = 0;
        out[0] = (unsigned char)kind;
        for (int i = 0; i < n; i++) {
            int left = i >= 3 ? row[i - 3] : 0, up = above ? above[i] : 0,
                corner = i >= 3 && above ? above[i - 3] : 0;
            out[1 + i] = (unsigned char)((row[i] - png_predict(kind, left, up, corner)) & 255);
            sum += out[1 + i] < 128 ? out[1 + i] : 256 - out[1 + i];
        }
        if (best < 0 || sum < best) {
            best = sum;
            chosen = kind;
        }
    }
}

/* A chunk: length, four letters, contents, CRC of the letters and the contents. */
static void png_chunk(png_bytes *out, const char *name, const unsigned char *data, size_t size)
{
    uint32_t crc;
    png_word(out, (uint32_t)size);
    for (int i = 0; i < 4; i++) png_byte(out, (unsigned char)name[i]);
    for (size_t i = 0; i < size; i++) png_byte(out, data[i]);
    crc = png_crc32(0, (const unsigned char *)name, 4);
    png_word(out, png_crc32(crc, data, size));
}

/* Signature and IHDR: 8 bits per channel, not interlaced. */
static void png_head(png_bytes *file, int width, int height, unsigned colour_type)
{
    static const unsigned char signature[8] = {137, 80, 78, 71, 13, 10, 26, 10};
    png_bytes head = {0};
    png_word(&head, (uint32_t)width);
    png_word(&head, (uint32_t)height);
    png_byte(&head, 8);
    png_byte(&head, colour_type);
    for (int i = 0; i < 3; i++) png_byte(&head, 0);   /* deflate, the five filters, not interlaced */
    for (int i = 0; i < 8; i++) png_byte(file, signature[i]);
    if (!head.failed) png_chunk(file, "IHDR", head.data, head.size);
    file->failed |= head.failed;
    free(head.data);
}

/* IEND, and the whole file; NULL when memory was short. */
static unsigned char *png_end(png_bytes *file, size_t *size)
{
    static const unsigned char none = 0;
    png_chunk(file, "IEND", &none, 0);
    if (file->failed) {
        free(file->data);
        file->data = NULL;
        file->size = 0;
    }
    *size = file->size;
    return file->data;
}

unsigned char *png_encode(const unsigned char *rgb, int width, int height, size_t *size)
{
    png_bytes file = {0}, body = {0};
    unsigned char *rows;
    size_t row;
    *size = 0;
    if (width <= 0 || height <= 0 || width > 32767 || height > 32767) return NULL;
    row = 3 * (size_t)width;
    if ((row + 1) * (size_t)height > 0x7FFFFFFFu) return NULL;
    rows = (unsigned char *)malloc((row + 1) * (size_t)height);
    if (!rows) return NULL;
    for (size_t y = 0; y < (size_t)height; y++)
        png_filter_row(rows + y * (row + 1), rgb + y * row, y ? rgb + (y - 1) * row : NULL, (int)row);
    png_deflate(&body, rows, (int)((row + 1) * (size_t)height));
    free(rows);
    png_head(&file, width, height, 2);         /* RGB */
    if (!body.failed) png_chunk(&file, "IDAT", body.data, body.size);
    file.failed |= body.failed;
    free(body.data);
    return png_end(&file, size);
}

/* ==== 4. Animations ==========================================================================
 * APNG: a PNG file that old readers show as its first picture. All frames share one palette of 255 colours. A frame
 * after the first is the box of what changed, and in it number 255, transparent, stands for what did not. A pixel
 * changes when what it shows is off by more than PNG_NEAR of 255 in some channel: soft shadows would change all. */

enum { PNG_CELLS = 1 << 18, PNG_PALETTE = 255, PNG_NEAR = 4 };   /* colours by 6 bits a channel */

/* Colours that occur, as a box to be cut: cells first .. last - 1 of a list. */
typedef struct png_cut { int first, last, axis; double spread; } png_cut;

typedef struct png_palette {
    int *cell;                  /* list of cells that occur (cells) */
    int cells;
    unsigned *count;            /* pixels in each cell (PNG_CELLS) */
    unsigned char *number;      /* palette number of each cell (PNG_CELLS) */
    unsigned char rgb[3 * PNG_PALETTE];
    int colours;
} png_palette;

static int png_cell_of(const unsigned char *rgb) { return (rgb[0] >> 2) << 12 | (rgb[1] >> 2) << 6 | rgb[2] >> 2; }
static int png_channel(int cell, int axis) { return cell >> (12 - 6 * axis) & 63; }

/* Mean and sum of squared differences of a box along an axis. */
static double png_spread(const png_palette *p, const png_cut *cut, int axis, double *mean)
{
    double n = 0, sum = 0, squares = 0;
    for (int i = cut->first; i < cut->last; i++) {
        double w = p->count[p->cell[i]], v = png_channel(p->cell[i], axis);
        n += w;
        sum += w * v;
        squares += w * v * v;
    }
    *mean = sum / n;
    return squares - sum * sum / n;
}

static void png_measure(const png_palette *p, png_cut *cut)
{
    cut->spread = -1;
    for (int axis = 0; axis < 3; axis++) {
        double mean, spread = png_spread(p, cut, axis, &mean);
        if (spread > cut->spread) { cut->spread = spread; cut->axis = axis; }
    }
}

/* Cuts a box at its mean; the cells below it come first. The new box has the others. */
static png_cut png_cut_box(png_palette *p, png_cut *cut)
{
    double mean;
    int low = cut->first;
    png_cut other = *cut;
    (void)png_spread(p, cut, cut->axis, &mean);
    for (int i = cut->first; i < cut->last; i++)
        if (png_channel(p->cell[i], cut->axis) <= mean) {
            int t = p->cell[i];
            p->cell[i] = p->cell[low];
            p->cell[low++] = t;
        }
    other.first = cut->last = low;
    png_measure(p, cut);
    png_measure(p, &other);
    return other;
}

/* The palette of pixels: the box with the largest spread is cut until there are 255, or nothing is left to cut. */
static void png_make_palette(png_palette *p, const unsigned char *rgb, size_t pixels)
{
    png_cut cut[PNG_PALETTE];
    for (size_t i = 0; i < pixels; i++)
        if (!p->count[png_cell_of(rgb + 3 * i)]++) p->cell[p->cells++] = png_cell_of(rgb + 3 * i);
    cut[0].first = 0;
    cut[0].last = p->cells;
    png_measure(p, &cut[0]);
    for (p->colours = 1; p->colours < PNG_PALETTE; p->colours++) {
        int widest = 0;
        for (int i = 1; i < p->colours; i++)
            if (cut[i].spread > cut[widest].spread) widest = i;
        if (cut[widest].spread <= 1e-9) break;
        cut[p->colours] = png_cut_box(p, &cut[widest]);
    }
    for (int i = 0; i < p->colours; i++)
        for (int axis = 0; axis < 3; axis++) {
            double mean;
            (void)png_spread(p, &cut[i], axis, &mean);
            p->rgb[3 * i + axis] = (unsigned char)(mean * 255 / 63 + 0.5);
            for (int k = cut[i].first; k < cut[i].last; k++) p->number[p->cell[k]] = (unsigned char)i;
        }
}

/* The number of a colour: that shown before, if it is near (-1: nothing was shown). */
static unsigned char png_number(const png_palette *p, const unsigned char *rgb, int before)
{
    for (int k = 0; k < 3; k++)
        if (before < 0 || abs(rgb[k] - p->rgb[3 * before + k]) > PNG_NEAR) return p->number[png_cell_of(rgb)];
    return (unsigned char)before;
}

/* The part of a frame that differs from the one before it (NULL: all): x, y, width, height. */
static void png_changed(const unsigned char *now, const unsigned char *before, int width, int height, int box[4])
{
    int lo[2] = {width, height}, hi[2] = {-1, -1};
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            if (before && now[y * width + x] == before[y * width + x]) continue;
            if (x < lo[0]) lo[0] = x;
            if (y < lo[1]) lo[1] = y;
            if (x > hi[0]) hi[0] = x;
            hi[1] = y;
        }
    if (hi[0] < 0) lo[0] = lo[1] = hi[0] = hi[1] = 0;   /* a frame has at least one pixel */
    for (int k = 0; k < 2; k++) {
        box[k] = lo[k];
        box[2 + k] = hi[k] - lo[k] + 1;
    }
}

/* One frame: fcTL, and its pixels as IDAT or fdAT. *sequence counts both kinds of chunk but IDAT. */
static void png_frame(png_bytes *file, const unsigned char *now, const unsigned char *before, int width, int height,
                      int milliseconds, uint32_t *sequence)
{
    png_bytes control = {0}, body = {0}, rows = {0};
    int box[4];
    png_changed(now, before, width, height, box);
    png_word(&control, (*sequence)++);
    png_word(&control, (uint32_t)box[2]);
    png_word(&control, (uint32_t)box[3]);
    png_word(&control, (uint32_t)box[0]);
    png_word(&control, (uint32_t)box[1]);
    png_word(&control, (uint32_t)milliseconds << 16 | 1000);
    png_byte(&control, 0);                     /* the frame stays, and the next one is drawn over it */
    png_byte(&control, before != NULL);
    for (int y = box[1]; y < box[1] + box[3]; y++) {
        png_byte(&rows, 0);                    /* numbers of colours are not filtered */
        for (int x = box[0]; x < box[0] + box[2]; x++) {
            int i = y * width + x;
            png_byte(&rows, before && before[i] == now[i] ? PNG_PALETTE : now[i]);
        }
    }
    if (before) png_word(&body, (*sequence)++);
    if (!rows.failed) png_deflate(&body, rows.data, (int)rows.size);
    file->failed |= control.failed | rows.failed | body.failed;
    if (!file->failed) {
        png_chunk(file, "fcTL", control.data, control.size);
        png_chunk(file, before ? "fdAT" : "IDAT", body.data, body.size);
    }
    free(control.data);
    free(rows.data);
    free(body.data);
}

static void png_frames(png_bytes *file, png_palette *p, const unsigned char *rgb, int count, int width, int height,
                       int milliseconds, int last_milliseconds)
{
    size_t pixels = (size_t)width * (size_t)height;
    unsigned char *frame = (unsigned char *)malloc(2 * pixels), clear[PNG_PALETTE + 1];
    png_bytes control = {0};
    uint32_t sequence = 0;
    png_make_palette(p, rgb, pixels * (size_t)count);
    for (int i = 0; i <= PNG_PALETTE; i++) clear[i] = i < PNG_PALETTE ? 255 : 0;
    png_head(file, width, height, 3);          /* numbers of a palette */
    png_word(&control, (uint32_t)count);
    png_word(&control, 0);                     /* plays for ever */
    file->failed |= control.failed | !frame;
    if (!file->failed) {
        unsigned char palette[3 * PNG_PALETTE + 3] = {0};
        memcpy(palette, p->rgb, sizeof p->rgb);
        png_chunk(file, "acTL", control.data, control.size);
        png_chunk(file, "PLTE", palette, sizeof palette);
        png_chunk(file, "tRNS", clear, sizeof clear);
    }
    for (int k = 0; k < count && !file->failed; k++) {
        unsigned char *now = frame + (size_t)(k % 2) * pixels, *before = frame + (size_t)((k + 1) % 2) * pixels;
        for (size_t i = 0; i < pixels; i++)
            now[i] = png_number(p, rgb + 3 * ((size_t)k * pixels + i), k ? before[i] : -1);
        png_frame(file, now, k ? before : NULL, width, height, k + 1 < count ? milliseconds : last_milliseconds,
                  &sequence);
    }
    free(control.data);
    free(frame);
}

unsigned char *png_encode_animation(const unsigned char *rgb, int count, int width, int height, int milliseconds,
                                    int last_milliseconds, size_t *size)
{
    png_bytes file = {0};
    png_palette p = {0};
    *size = 0;
    if (width <= 0 || height <= 0 || width > 4096 || height > 4096 || count <= 0 || milliseconds < 0
        || milliseconds > 65535 || last_milliseconds < 0 || last_milliseconds > 65535)
        return NULL;
    p.cell = (int *)malloc(sizeof(int) * PNG_CELLS);
    p.count = (unsigned *)calloc(PNG_CELLS, sizeof(unsigned));
    p.number = (unsigned char *)calloc(PNG_CELLS, 1);
    if (p.cell && p.count && p.number)
        png_frames(&file, &p, rgb, count, width, height, milliseconds, last_milliseconds);
    else file.failed = 1;
    free(p.cell);
    free(p.count);
    free(p.number);
    return png_end(&file, size);
}

/* Writes a file of size bytes, and frees them. Returns 1, or 0 when there are none or the file is not complete. */
static int png_save(const char *path, unsigned char *data, size_t size)
{
    FILE *f = data ? fopen(path, "wb") : NULL;
    int good = f != NULL && fwrite(data, 1, size, f) == size;
    if (f && fclose(f) != 0) good = 0;
    free(data);
    return good;
}

int png_write(const char *path, const unsigned char *rgb, int width, int height)
{
    size_t size;
    unsigned char *data = png_encode(rgb, width, height, &size);
    return png_save(path, data, size);
}

int png_write_animation(const char *path, const unsigned char *rgb, int count, int width, int height,
                        int milliseconds, int last_milliseconds)
{
    size_t size;
    unsigned char *data = png_encode_animation(rgb, count, width, height, milliseconds, last_milliseconds, &size);
    return png_save(path, data, size);
}
