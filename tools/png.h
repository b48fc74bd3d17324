/* PNG writer: 8-bit RGB pictures, compressed here, with nothing but libc.
 * png_encode() returns the whole file in memory, png_write() puts it on disk. */
#ifndef PNG_H
#define PNG_H

#include <stddef.h>
#include <stdint.h>

/* The picture as a PNG file in memory: rgb is width x height x 3 bytes, row by row from the top.
 * Returns a block to be freed by the caller and its length in *size; NULL when the size is not positive,
 * is larger than 32767 a side, or memory is short. */
unsigned char *png_encode(const unsigned char *rgb, int width, int height, size_t *size);

/* Writes the picture to a file. Returns 1, or 0 when it could not be encoded or written in full. */
int png_write(const char *path, const unsigned char *rgb, int width, int height);

/* The same for `count` frames, one after the other in rgb, as an animated PNG (APNG) that plays for ever. It has at
 * most 255 colours. A frame is shown for `milliseconds`, the last one for `last_milliseconds`. Sides are at most
 * 4096, times at most 65535. */
unsigned char *png_encode_animation(const unsigned char *rgb, int count, int width, int height, int milliseconds,
                                    int last_milliseconds, size_t *size);
int png_write_animation(const char *path, const unsigned char *rgb, int count, int width, int height,
                        int milliseconds, int last_milliseconds);

/* The two check sums of the format, continued from an earlier value (start with 0 and with 1). */
uint32_t png_crc32(uint32_t crc, const unsigned char *data, size_t size);
uint32_t png_adler32(uint32_t adler, const unsigned char *data, size_t size);

#endif
