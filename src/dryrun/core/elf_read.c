#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "dryrun/core/elf.h"

#define VERSIONS_MOST 0x8000 /* an index has 15 bits */

static bool fail(struct error *err, const char *message)
{
    return error_set(err, STATUS_BAD_INPUT, "%s", message);
}

static bool is_within(const struct elf *elf, uint64_t offset, uint64_t size)
{
    return offset <= elf->size && size <= elf->size - offset;
}

/* Section number `index`; false if it is not in the file. */
static bool read_section(const struct elf *elf, const Elf64_Ehdr *header, size_t index,
                         Elf64_Shdr *section)
{
    if (index >= header->e_shnum ||
        !is_within(elf, header->e_shoff, (index + 1) * sizeof(*section)))
        return false;
    memcpy(section, elf->bytes + header->e_shoff + index * sizeof(*section), sizeof(*section));
    return section->sh_type == SHT_NOBITS || is_within(elf, section->sh_offset, section->sh_size);
}

/* A string table: it must end with a NUL, so that every string in it ends. */
static bool take_names(const struct elf *elf, const Elf64_Ehdr *header, const Elf64_Shdr *section,
                       const char **names, size_t *size)
{
    Elf64_Shdr table;
    if (!read_section(elf, header, section->sh_link, &table) || table.sh_type != SHT_STRTAB ||
        table.sh_size == 0 || elf->bytes[table.sh_offset + table.sh_size - 1] != '\0')
        return false;
    *names = (const char *)elf->bytes + table.sh_offset;
    *size = table.sh_size;
    return true;
}

static void take_table(const struct elf *elf, const Elf64_Shdr *section, size_t entry,
                       struct elf_table *table)
{
    *table = (struct elf_table){elf->bytes + section->sh_offset, section->sh_size / entry, entry};
}

static const char *name_at(const char *names, size_t size, uint64_t offset)
{
    return offset < size ? names + offset : NULL;
}

static bool set_version(struct elf *elf, size_t index, const char *file, const char *name)
{
    index &= VERSIONS_MOST - 1;
    if (!name)
        return true;
    if (index >= elf->version_count) {
        struct elf_version *versions = realloc(elf->versions, (index + 1) * sizeof(*versions));
        if (!versions)
            return false;
        memset(versions + elf->version_count, 0,
               (index + 1 - elf->version_count) * sizeof(*versions));
        elf->versions = versions;
        elf->version_count = index + 1;
    }
    elf->versions[index] = (struct elf_version){file, name};
    return true;
}

/* A walk through the records of a section, each of which says how far the next one is. */
struct chain {
    const struct elf *elf;
    uint64_t at, end;
};

static bool chain_read(const struct chain *chain, void *record, size_t size)
{
    if (chain->at > chain->end || chain->end - chain->at < size)
        return false;
    memcpy(record, chain->elf->bytes + chain->at, size);
    return true;
}

/* Distances are positive, so the walk ends at the end of the section at the latest. */
static bool chain_next(struct chain *chain, uint64_t distance)
{
    if (distance == 0 || distance > chain->end - chain->at)
        return false;
    chain->at += distance;
    return true;
}

/* The versions that one library must define. */
static bool read_needed_versions(struct elf *elf, const struct chain *file,
                                 const Elf64_Verneed *need, const char *names, size_t names_size)
{
    struct chain one = *file;
    Elf64_Vernaux aux;
    const char *name = name_at(names, names_size, need->vn_file);
    if (!chain_next(&one, need->vn_aux))
        return true;
    for (unsigned i = 0; i < need->vn_cnt && chain_read(&one, &aux, sizeof(aux)); i++) {
        if (!set_version(elf, aux.vna_other, name, name_at(names, names_size, aux.vna_name)))
            return false;
        if (!chain_next(&one, aux.vna_next))
            break;
    }
    return true;
}

static bool read_needs(struct elf *elf, const Elf64_Ehdr *header, const Elf64_Shdr *section)
{
    struct chain chain = {elf, section->sh_offset, section->sh_offset + section->sh_size};
    const char *names;
    size_t names_size;
    Elf64_Verneed need;
    if (!take_names(elf, header, section, &names, &names_size))
        return true;
    while (chain_read(&chain, &need, sizeof(need))) {
        if (!read_needed_versions(elf, &chain, &need, names, names_size))
            return false;
        if (!chain_next(&chain, need.vn_next))
            break;
    }
    return true;
}

static bool read_definitions(struct elf *elf, const Elf64_Ehdr *header, const Elf64_Shdr *section)
{
    struct chain chain = {elf, section->sh_offset, section->sh_offset + section->sh_size};
    const char *names;
    size_t names_size;
    Elf64_Verdef definition;
    Elf64_Verdaux aux;
    if (!take_names(elf, header, section, &names, &names_size))
        return true;
    while (chain_read(&chain, &definition, sizeof(definition))) {
        struct chain one = chain;
        if (!(definition.vd_flags & VER_FLG_BASE) && chain_next(&one, definition.vd_aux) &&
            chain_read(&one, &aux, sizeof(aux)) &&
            !set_version(elf, definition.vd_ndx, NULL, name_at(names, names_size, aux.vda_name)))
            return false;
        if (!chain_next(&chain, definition.vd_next))
            break;
    }
    return true;
}

static bool take_section(struct elf *elf, const Elf64_Ehdr *header, const Elf64_Shdr *section,
                         struct error *err)
{
    switch (section->sh_type) {
    case SHT_DYNSYM:
        take_table(elf, section, sizeof(Elf64_Sym), &elf->symbols);
        return take_names(elf, header, section, &elf->names, &elf->names_size) ||
               fail(err, "expected the names of the dynamic symbols");
    case SHT_DYNAMIC:
        take_table(elf, section, sizeof(Elf64_Dyn), &elf->dynamic);
        return take_names(elf, header, section, &elf->dynamic_names, &elf->dynamic_names_size) ||
               fail(err, "expected the names of the needed libraries");
    case SHT_GNU_versym:
        take_table(elf, section, sizeof(Elf64_Half), &elf->symbol_versions);
        return true;
    case SHT_GNU_verneed:
        return read_needs(elf, header, section) || error_out_of_memory(err);
    case SHT_GNU_verdef:
        return read_definitions(elf, header, section) || error_out_of_memory(err);
    default:
        return true;
    }
}

bool elf_open(struct elf *elf, const unsigned char *bytes, size_t size, struct error *err)
{
    Elf64_Ehdr header;
    struct elf opened = {.bytes = bytes, .size = size};
    if (size < sizeof(header) || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return fail(err, "expected an ELF file");
    memcpy(&header, bytes, sizeof(header));
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_shentsize != sizeof(Elf64_Shdr))
        return fail(err, "expected a 64-bit little-endian ELF file with sections");
    opened.machine = header.e_machine;
    for (size_t i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section;
        if (!read_section(&opened, &header, i, &section)) {
            elf_close(&opened);
            return fail(err, "a section of the ELF file lies outside the file");
        }
        if (!take_section(&opened, &header, &section, err)) {
            elf_close(&opened);
            return false;
        }
    }
    *elf = opened;
    return true;
}

void elf_close(struct elf *elf)
{
    free(elf->versions);
    *elf = (struct elf){0};
}

bool elf_symbol(const struct elf *elf, size_t index, struct elf_symbol *symbol)
{
    Elf64_Sym raw;
    Elf64_Half version = 0;
    if (index >= elf->symbols.count)
        return false;
    memcpy(&raw, elf->symbols.bytes + index * sizeof(raw), sizeof(raw));
    const char *name = name_at(elf->names, elf->names_size, raw.st_name);
    if (!name || !*name || ELF64_ST_BIND(raw.st_info) == STB_LOCAL)
        return false;
    *symbol = (struct elf_symbol){.name = name,
                                  .is_defined = raw.st_shndx != SHN_UNDEF,
                                  .is_weak = ELF64_ST_BIND(raw.st_info) == STB_WEAK};
    if (index < elf->symbol_versions.count)
        memcpy(&version, elf->symbol_versions.bytes + index * sizeof(version), sizeof(version));
    version &= VERSIONS_MOST - 1;
    if (version > VER_NDX_GLOBAL && version < elf->version_count)
        symbol->version = elf->versions[version];
    return true;
}

const char *elf_next_needed(const struct elf *elf, size_t *at)
{
    while (*at < elf->dynamic.count) {
        Elf64_Dyn entry;
        memcpy(&entry, elf->dynamic.bytes + (*at)++ * sizeof(entry), sizeof(entry));
        if (entry.d_tag == DT_NULL)
            break;
        const char *name =
            entry.d_tag == DT_NEEDED
                ? name_at(elf->dynamic_names, elf->dynamic_names_size, entry.d_un.d_val)
                : NULL;
        if (name)
            return name;
    }
    *at = elf->dynamic.count;
    return NULL;
}
