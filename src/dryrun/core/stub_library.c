#include "dryrun/core/stub_library.h"

#include <elf.h>
#include <string.h>

#include "dryrun/core/stub_code.h"

/* The file: one segment to read and execute with everything that is constant, and on pages of its
 * own one to write, with the dynamic section and the address of the handler, which the loader
 * stores. Addresses are offsets in the file. */

#define PAGE           ((size_t)0x10000) /* the largest page size of either machine */
#define SYMBOL_HANDLER 1                 /* index of a dynamic symbol; the stubs follow it */
#define VERSION_FIRST  2                 /* 1 is the library itself */

enum part {
    HASH,
    SYMBOLS,
    NAMES,
    SYMBOL_VERSIONS,
    VERSIONS,
    RELOCATION,
    THUNKS,
    DYNAMIC,
    SLOT,
    END
};

struct writer {
    const struct stub_library *library;
    struct buffer names;
    size_t at[END + 1]; /* offset of each part */
    size_t soname, needed, handler;
};

static size_t symbol_count(const struct writer *writer)
{
    return SYMBOL_HANDLER + 1 + writer->library->stub_count;
}

static size_t add_name(struct buffer *names, const char *text)
{
    size_t at = names->size;
    buffer_add(names, text, strlen(text) + 1);
    return at;
}

/* The hash function of the ELF specification. */
static uint32_t hash_name(const char *text)
{
    uint32_t hash = 0;
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        hash = (hash << 4) + *c;
        hash ^= (hash & 0xf0000000) >> 24;
        hash &= 0x0fffffff;
    }
    return hash;
}

static void put(struct buffer *out, const void *bytes, size_t size)
{
    buffer_add(out, bytes, size);
}

static void pad_to(struct buffer *out, size_t offset)
{
    static const char zeros[256];
    while (!out->failed && out->size < offset)
        put(out, zeros, offset - out->size < sizeof(zeros) ? offset - out->size : sizeof(zeros));
}

/* Names of symbols are at the offsets that this order of additions gives. */
static void collect_names(struct writer *writer)
{
    const struct stub_library *library = writer->library;
    add_name(&writer->names, "");
    writer->soname = add_name(&writer->names, library->soname);
    writer->needed = add_name(&writer->names, library->needed);
    writer->handler = add_name(&writer->names, library->handler);
    for (size_t i = 0; i < library->version_count; i++)
        add_name(&writer->names, library->versions[i]);
    for (size_t i = 0; i < library->stub_count; i++)
        add_name(&writer->names, library->stubs[i].name);
}

static size_t align(size_t offset, size_t to)
{
    return (offset + to - 1) / to * to;
}

static void lay_out(struct writer *writer)
{
    const struct stub_library *library = writer->library;
    size_t count = symbol_count(writer), *at = writer->at;
    at[HASH] = align(sizeof(Elf64_Ehdr) + 4 * sizeof(Elf64_Phdr), 8);
    at[SYMBOLS] = align(at[HASH] + (2 + 2 * count) * sizeof(Elf64_Word), 8);
    at[NAMES] = at[SYMBOLS] + count * sizeof(Elf64_Sym);
    at[SYMBOL_VERSIONS] = align(at[NAMES] + writer->names.size, 8);
    at[VERSIONS] = align(at[SYMBOL_VERSIONS] + count * sizeof(Elf64_Half), 8);
    at[RELOCATION] = align(at[VERSIONS] + (library->version_count + 1) *
                                              (sizeof(Elf64_Verdef) + sizeof(Elf64_Verdaux)),
                           8);
    at[THUNKS] = align(at[RELOCATION] + sizeof(Elf64_Rela), STUB_CODE_SIZE);
    at[DYNAMIC] = align(at[THUNKS] + library->stub_count * STUB_CODE_SIZE, PAGE);
    at[SLOT] = at[DYNAMIC] + 16 * sizeof(Elf64_Dyn);
    at[END] = at[SLOT] + 8;
}

static void put_headers(const struct writer *writer, struct buffer *out)
{
    const size_t *at = writer->at;
    Elf64_Ehdr header = {.e_type = ET_DYN,
                         .e_machine = writer->library->machine,
                         .e_version = EV_CURRENT,
                         .e_phoff = sizeof(header),
                         .e_ehsize = sizeof(header),
                         .e_phentsize = sizeof(Elf64_Phdr),
                         .e_phnum = 4,
                         .e_shentsize = sizeof(Elf64_Shdr)};
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    size_t written = at[END] - at[DYNAMIC];
    const Elf64_Phdr segments[4] = {
        {PT_LOAD, PF_R | PF_X, 0, 0, 0, at[DYNAMIC], at[DYNAMIC], PAGE},
        {PT_LOAD, PF_R | PF_W, at[DYNAMIC], at[DYNAMIC], at[DYNAMIC], written, written, PAGE},
        {PT_DYNAMIC, PF_R | PF_W, at[DYNAMIC], at[DYNAMIC], at[DYNAMIC], at[SLOT] - at[DYNAMIC],
         at[SLOT] - at[DYNAMIC], 8},
        {PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0, 0, 16},
    };
    put(out, &header, sizeof(header));
    put(out, segments, sizeof(segments));
}

/* One chain for all symbols would do, but the loader looks up every symbol in every library. */
static void put_hash(const struct writer *writer, const size_t *names, struct buffer *out)
{
    Elf64_Word count = (Elf64_Word)symbol_count(writer), header[2] = {count, count};
    struct buffer table = BUFFER_INIT;
    size_t size = 2 * count * sizeof(Elf64_Word);
    put(out, header, sizeof(header));
    for (size_t done = 0; done < size; done += sizeof(Elf64_Word))
        put(&table, "\0\0\0", sizeof(Elf64_Word));
    Elf64_Word *buckets = (Elf64_Word *)(void *)table.bytes;
    for (Elf64_Word i = SYMBOL_HANDLER + 1; !table.failed && i < count; i++) {
        Elf64_Word *bucket = &buckets[hash_name(writer->names.bytes + names[i]) % count];
        buckets[count + i] = *bucket;
        *bucket = i;
    }
    if (table.failed)
        out->failed = true;
    else
        put(out, table.bytes, size);
    buffer_release(&table);
}

static void put_symbols(const struct writer *writer, const size_t *names, struct buffer *out)
{
    Elf64_Sym symbol = {0};
    put(out, &symbol, sizeof(symbol));
    symbol.st_name = (Elf64_Word)writer->handler;
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    put(out, &symbol, sizeof(symbol));
    for (size_t i = SYMBOL_HANDLER + 1; i < symbol_count(writer); i++) {
        symbol.st_name = (Elf64_Word)names[i];
        symbol.st_shndx = 1; /* any section: defined */
        symbol.st_value = writer->at[THUNKS] + (i - SYMBOL_HANDLER - 1) * STUB_CODE_SIZE;
        symbol.st_size = STUB_CODE_SIZE;
        put(out, &symbol, sizeof(symbol));
    }
}

static Elf64_Half version_index(const struct stub_library *library, const char *version)
{
    for (size_t i = 0; version && i < library->version_count; i++)
        if (strcmp(library->versions[i], version) == 0)
            return (Elf64_Half)(VERSION_FIRST + i);
    return VER_NDX_GLOBAL;
}

static void put_symbol_versions(const struct writer *writer, struct buffer *out)
{
    Elf64_Half none = VER_NDX_LOCAL, handler = VER_NDX_GLOBAL;
    put(out, &none, sizeof(none));
    put(out, &handler, sizeof(handler));
    for (size_t i = 0; i < writer->library->stub_count; i++) {
        Elf64_Half index = version_index(writer->library, writer->library->stubs[i].version);
        put(out, &index, sizeof(index));
    }
}

static void put_version(struct buffer *out, Elf64_Half index, const char *text, size_t name,
                        bool is_last)
{
    Elf64_Verdef definition = {.vd_version = VER_DEF_CURRENT,
                               .vd_flags = index == 1 ? VER_FLG_BASE : 0,
                               .vd_ndx = index,
                               .vd_cnt = 1,
                               .vd_hash = hash_name(text),
                               .vd_aux = sizeof(definition)};
    Elf64_Verdaux aux = {.vda_name = (Elf64_Word)name};
    definition.vd_next = is_last ? 0 : sizeof(definition) + sizeof(aux);
    put(out, &definition, sizeof(definition));
    put(out, &aux, sizeof(aux));
}

static void put_versions(const struct writer *writer, struct buffer *out)
{
    const struct stub_library *library = writer->library;
    size_t name = writer->handler + strlen(library->handler) + 1;
    put_version(out, 1, library->soname, writer->soname, library->version_count == 0);
    for (size_t i = 0; i < library->version_count; i++) {
        put_version(out, (Elf64_Half)(VERSION_FIRST + i), library->versions[i], name,
                    i + 1 == library->version_count);
        name += strlen(library->versions[i]) + 1;
    }
}

static void put_relocation(const struct writer *writer, struct buffer *out)
{
    bool is_x86 = writer->library->machine == EM_X86_64;
    Elf64_Rela relocation = {
        .r_offset = writer->at[SLOT],
        .r_info = ELF64_R_INFO((Elf64_Xword)SYMBOL_HANDLER,
                               (Elf64_Xword)(is_x86 ? R_X86_64_GLOB_DAT : R_AARCH64_GLOB_DAT))};
    put(out, &relocation, sizeof(relocation));
}

static void put_thunks(const struct writer *writer, const size_t *names, struct buffer *out)
{
    for (size_t i = 0; i < writer->library->stub_count; i++) {
        size_t at = writer->at[THUNKS] + i * STUB_CODE_SIZE;
        size_t name = writer->at[NAMES] + names[SYMBOL_HANDLER + 1 + i];
        stub_code_put(writer->library->machine, at, name, writer->at[SLOT], out);
    }
}

static void put_dynamic(const struct writer *writer, struct buffer *out)
{
    const size_t *at = writer->at;
    const struct {
        Elf64_Sxword tag;
        size_t value;
    } entries[] = {
        {DT_NEEDED, writer->needed},
        {DT_SONAME, writer->soname},
        {DT_HASH, at[HASH]},
        {DT_STRTAB, at[NAMES]},
        {DT_SYMTAB, at[SYMBOLS]},
        {DT_STRSZ, writer->names.size},
        {DT_SYMENT, sizeof(Elf64_Sym)},
        {DT_RELA, at[RELOCATION]},
        {DT_RELASZ, sizeof(Elf64_Rela)},
        {DT_RELAENT, sizeof(Elf64_Rela)},
        {DT_VERSYM, at[SYMBOL_VERSIONS]},
        {DT_VERDEF, at[VERSIONS]},
        {DT_VERDEFNUM, writer->library->version_count + 1},
        {DT_NULL, 0},
    };
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        Elf64_Dyn entry = {.d_tag = entries[i].tag, .d_un.d_val = entries[i].value};
        put(out, &entry, sizeof(entry));
    }
}

static void put_parts(const struct writer *writer, const size_t *names, struct buffer *out)
{
    const size_t *at = writer->at;
    put_headers(writer, out);
    pad_to(out, at[HASH]);
    put_hash(writer, names, out);
    pad_to(out, at[SYMBOLS]);
    put_symbols(writer, names, out);
    put(out, writer->names.bytes, writer->names.size);
    pad_to(out, at[SYMBOL_VERSIONS]);
    put_symbol_versions(writer, out);
    pad_to(out, at[VERSIONS]);
    put_versions(writer, out);
    pad_to(out, at[RELOCATION]);
    put_relocation(writer, out);
    pad_to(out, at[THUNKS]);
    put_thunks(writer, names, out);
    pad_to(out, at[DYNAMIC]);
    put_dynamic(writer, out);
    pad_to(out, at[END]);
}

/* The offset of each symbol's name in the names. */
static void find_names(const struct writer *writer, struct buffer *offsets)
{
    size_t at = writer->handler;
    for (size_t i = 0; i < 2 + writer->library->stub_count; i++) {
        size_t offset = i == 0 ? 0 : at;
        put(offsets, &offset, sizeof(offset));
        if (i == 0)
            continue;
        at += strlen(writer->names.bytes + at) + 1;
        for (size_t j = 0; i == SYMBOL_HANDLER && j < writer->library->version_count; j++)
            at += strlen(writer->names.bytes + at) + 1;
    }
}

bool stub_library_write(const struct stub_library *library, struct buffer *out)
{
    struct writer writer = {.library = library};
    struct buffer file = BUFFER_INIT, offsets = BUFFER_INIT;
    if (!stub_code_is_known(library->machine))
        return false;
    collect_names(&writer);
    if (!writer.names.failed) {
        lay_out(&writer);
        find_names(&writer, &offsets);
    }
    if (!writer.names.failed && !offsets.failed)
        put_parts(&writer, (const size_t *)(const void *)offsets.bytes, &file);
    if (writer.names.failed || offsets.failed || file.failed)
        out->failed = true;
    else
        buffer_add(out, file.bytes, file.size);
    buffer_release(&writer.names);
    buffer_release(&offsets);
    buffer_release(&file);
    return true;
}
