#include "decode/core/others.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "decode/core/plain.h"

/* Other common file types, by their first bytes. */
static const struct magic {
    const char *bytes;
    size_t size;
    const char *name;
} magics[] = {
    {"PK\3\4", 4, "a zip archive (torch.save?)"},
    {"PK\5\6", 4, "an empty zip archive"},
    {"\x1f\x8b", 2, "gzip data within gzip data"},
    {"\x28\xb5\x2f\xfd", 4, "zstd data (decompress it first)"},
    {"\x04\x22\x4d\x18", 4, "LZ4 data (decompress it first)"},
    {"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 14, "a file of torch.save()"},
    {"\xfd\x37zXZ\0", 6, "xz data (decompress it first)"},
    {"BZh", 3, "bzip2 data (decompress it first)"},
    {"7z\xbc\xaf\x27\x1c", 6, "a 7z archive"},
    {"\x7f"
     "ELF",
     4, "an ELF program or library"},
    {"SQLite format 3", 15, "an SQLite database"},
    {"\x89PNG", 4, "a PNG picture"},
    {"\xff\xd8\xff", 3, "a JPEG picture"},
    {"%PDF", 4, "a PDF document"},
    {"\x93NUMPY", 6, "a NumPy array"},
    {"\x89HDF", 4, "an HDF5 file"},
    {"\xff\xfe", 2, "a text in UTF-16 (convert it to UTF-8 first)"},
};
#define MAGIC_COUNT (sizeof(magics) / sizeof(magics[0]))

static bool begins_with(const uint8_t *p, const uint8_t *end, const char *text)
{
    for (; *text != '\0'; p++, text++)
        if (p == end || tolower(*p) != *text)
            return false;
    return true;
}

/* Texts and pages that a training run leaves, by words near their beginning, and what to record in
 * place of them. */
static const struct {
    const char *mark, *name;
} texts[] = {
    {"<title>GPU Memory Timeline HTML</title>",
     "a picture of torch.profiler's memory timeline: export_memory_timeline() writes what memsnap "
     "reads to a name that ends in .raw.json.gz"},
    {SUMMARY_HEADING, "a table of torch.cuda.memory_summary(), which 'memsnap analyze' reads"},
    {"  Self CPU %  ", "a table of torch.profiler's operators, which 'memsnap analyze' reads"},
};

/* The size of the header, in 8 bytes, goes before it. */
static bool is_safetensors(const uint8_t *p, const uint8_t *end)
{
    return end - p > 10 && memcmp(p + 4, "\0\0\0\0{\"", 6) == 0;
}

const char *describe_bytes(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *begin = bytes_skip_start(p, end);

    for (size_t i = 0; i < MAGIC_COUNT; i++)
        if ((size_t)(end - p) >= magics[i].size && memcmp(p, magics[i].bytes, magics[i].size) == 0)
            return magics[i].name;
    if (end - p > 262 && memcmp(p + 257, "ustar", 5) == 0)
        return "a tar archive (unpack it first)";
    if (is_safetensors(p, end))
        return "a safetensors file";
    if (begin == end)
        return "white space only";
    struct text start =
        text_first((struct text){(const char *)begin, (size_t)(end - begin)}, TEXT_BYTES);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (text_find(start, texts[i].mark) != NULL)
            return texts[i].name;
    if (begins_with(begin, end, "<!doctype html") || begins_with(begin, end, "<html"))
        return "an HTML page";
    if (bytes_are_text(p, end))
        return "a text file";
    return "unknown binary data";
}
