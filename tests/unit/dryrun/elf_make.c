#include <elf.h>
#include <string.h>

#include "unit/dryrun/dryrun.h"

enum { NONE, NAMES, SYMBOLS, DYNAMIC, VERSIONS, NEEDS, DEFINITIONS, SECTIONS };

enum {
    CUDART = 1,
    MATH = CUDART + sizeof("libcudart.so.12"),
    MALLOC = MATH + sizeof("libm.so.6"),
    SEND = MALLOC + sizeof("cudaMalloc"),
    PRINTF = SEND + sizeof("ncclSend"),
    MAYBE = PRINTF + sizeof("printf"),
    OWN = MAYBE + sizeof("cudaMaybe"),
    F = OWN + sizeof("cudaOwn"),
    VERSION_F = F + sizeof("f"),
};
static const char names[] =
    "\0libcudart.so.12\0libm.so.6\0cudaMalloc\0ncclSend\0printf\0cudaMaybe\0cudaOwn\0f\0LIBF_1";

struct maker {
    unsigned char *bytes;
    size_t size;
    Elf64_Shdr sections[SECTIONS];
};

static void add(struct maker *maker, int number, unsigned type, const void *bytes, size_t size)
{
    maker->size = (maker->size + 7) / 8 * 8;
    maker->sections[number] =
        (Elf64_Shdr){.sh_type = type, .sh_offset = maker->size, .sh_size = size, .sh_link = NAMES};
    memcpy(maker->bytes + maker->size, bytes, size);
    maker->size += size;
}

static Elf64_Sym symbol(unsigned name, unsigned char binding, unsigned short section)
{
    return (Elf64_Sym){.st_name = name,
                       .st_info = (unsigned char)ELF64_ST_INFO(binding, STT_FUNC),
                       .st_shndx = section};
}

static void add_sections(struct maker *maker)
{
    const Elf64_Sym symbols[] = {
        {0},
        symbol(MALLOC, STB_GLOBAL, SHN_UNDEF),
        symbol(SEND, STB_GLOBAL, SHN_UNDEF),
        symbol(PRINTF, STB_GLOBAL, SHN_UNDEF),
        symbol(MAYBE, STB_WEAK, SHN_UNDEF),
        symbol(OWN, STB_GLOBAL, 1),
        symbol(F, STB_GLOBAL, 1),
    };
    const Elf64_Half versions[] = {0, 3, 1, 1, 1, 1, 2};
    const Elf64_Dyn dynamic[] = {
        {DT_NEEDED, {CUDART}}, {DT_SONAME, {F}}, {DT_NEEDED, {MATH}}, {DT_NULL, {0}}};
    const struct {
        Elf64_Verneed need;
        Elf64_Vernaux aux;
    } needs = {{1, 1, CUDART, sizeof(Elf64_Verneed), 0}, {0, 0, 3, CUDART, 0}};
    const struct {
        Elf64_Verdef definition;
        Elf64_Verdaux aux;
    } definitions[] = {
        {{1, VER_FLG_BASE, 1, 1, 0, sizeof(Elf64_Verdef), sizeof(definitions[0])}, {F, 0}},
        {{1, 0, 2, 1, 0, sizeof(Elf64_Verdef), 0}, {VERSION_F, 0}},
    };
    add(maker, NAMES, SHT_STRTAB, names, sizeof(names));
    add(maker, SYMBOLS, SHT_DYNSYM, symbols, sizeof(symbols));
    add(maker, DYNAMIC, SHT_DYNAMIC, dynamic, sizeof(dynamic));
    add(maker, VERSIONS, SHT_GNU_versym, versions, sizeof(versions));
    add(maker, NEEDS, SHT_GNU_verneed, &needs, sizeof(needs));
    add(maker, DEFINITIONS, SHT_GNU_verdef, definitions, sizeof(definitions));
}

size_t elf_make(unsigned char bytes[MADE_MOST])
{
    struct maker maker = {.bytes = bytes, .size = sizeof(Elf64_Ehdr)};
    Elf64_Ehdr header = {.e_type = ET_DYN,
                         .e_machine = EM_X86_64,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = SECTIONS};
    memset(bytes, 0, MADE_MOST);
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    add_sections(&maker);
    maker.size = (maker.size + 7) / 8 * 8;
    header.e_shoff = maker.size;
    memcpy(bytes, &header, sizeof(header));
    memcpy(bytes + maker.size, maker.sections, sizeof(maker.sections));
    return maker.size + sizeof(maker.sections);
}
