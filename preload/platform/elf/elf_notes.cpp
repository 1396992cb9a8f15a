#include "platform/elf/elf_notes.h"

#include <string.h>

namespace plumb::shim {

BuildId build_id_in_notes(const uint8_t* notes, uint64_t length, uint64_t alignment) {
    BuildId id = {};
    const uint64_t mask = (alignment == 8 ? 8 : 4) - 1;
    uint64_t at = 0;
    while (at + sizeof(ElfW(Nhdr)) <= length) {
        ElfW(Nhdr) note;
        memcpy(&note, notes + at, sizeof note);
        const uint64_t name = at + sizeof note;
        const uint64_t description = (name + note.n_namesz + mask) & ~mask;
        const uint64_t next = (description + note.n_descsz + mask) & ~mask;
        if (next <= at || description + note.n_descsz > length)
            break;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes + name, "GNU", 4) == 0) {
            id.size = static_cast<uint8_t>(note.n_descsz < sizeof id.bytes ? note.n_descsz : sizeof id.bytes);
            memcpy(id.bytes, notes + description, id.size);
            return id;
        }
        at = next;
    }
    return id;
}

BuildId build_id_of_image(uint64_t base, const ElfW(Phdr) * headers, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        const ElfW(Phdr)& header = headers[i];
        if (header.p_type != PT_NOTE)
            continue;
        const BuildId id = build_id_in_notes(reinterpret_cast<const uint8_t*>(base + header.p_vaddr), header.p_memsz,
                                             header.p_align);
        if (id.size > 0)
            return id;
    }
    return {};
}

} // namespace plumb::shim
