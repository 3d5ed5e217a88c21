#include "dryrun/core/stub_code.h"

#include <elf.h>
#include <string.h>

/* lea name(%rip), %rsi; jmp *slot(%rip); int3 */
static void put_thunk_x86(struct buffer *out, size_t at, size_t name, size_t slot)
{
    unsigned char code[STUB_CODE_SIZE] = {0x48, 0x8d, 0x35, 0, 0, 0, 0, 0xff, 0x25};
    int32_t to_name = (int32_t)((int64_t)name - (int64_t)(at + 7));
    int32_t to_slot = (int32_t)((int64_t)slot - (int64_t)(at + 13));
    memcpy(code + 3, &to_name, sizeof(to_name));
    memcpy(code + 9, &to_slot, sizeof(to_slot));
    memset(code + 13, 0xcc, STUB_CODE_SIZE - 13);
    buffer_add(out, (const char *)code, sizeof(code));
}

/* adrp: `reg` becomes the page of `target`; pages are of 4 KiB here, whatever the system's are. */
static uint32_t arm_page(unsigned reg, size_t at, size_t target)
{
    uint32_t pages = (uint32_t)((int64_t)(target >> 12) - (int64_t)(at >> 12));
    return 0x90000000 | (pages & 3) << 29 | (pages >> 2 & 0x7ffff) << 5 | reg;
}

/* adrp x1, name; add x1, x1, :lo12:name; adrp x16, slot; ldr x16, [x16, :lo12:slot]; br x16 */
static void put_thunk_arm(struct buffer *out, size_t at, size_t name, size_t slot)
{
    const uint32_t trap = 0xd4200000;
    const uint32_t code[STUB_CODE_SIZE / 4] = {
        arm_page(1, at, name),
        0x91000021 | (uint32_t)(name & 0xfff) << 10,
        arm_page(16, at + 8, slot),
        0xf9400210 | (uint32_t)((slot & 0xfff) / 8) << 10,
        0xd61f0200,
        trap,
        trap,
        trap,
    };
    buffer_add(out, (const char *)code, sizeof(code));
}

bool stub_code_is_known(uint16_t machine)
{
    return machine == EM_X86_64 || machine == EM_AARCH64;
}

void stub_code_put(uint16_t machine, size_t at, size_t name, size_t slot, struct buffer *out)
{
    if (machine == EM_X86_64)
        put_thunk_x86(out, at, name, slot);
    else
        put_thunk_arm(out, at, name, slot);
}
