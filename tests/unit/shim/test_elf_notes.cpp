#include "platform/elf/elf_notes.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

using namespace plumb::shim;

static void add_note(std::vector<uint8_t>& notes, const std::string& name, uint32_t type, const std::string& text,
                     size_t alignment) {
    const ElfW(Nhdr) header = {static_cast<ElfW(Word)>(name.size() + 1), static_cast<ElfW(Word)>(text.size()), type};
    const auto append = [&](const void* from, size_t bytes) {
        const auto* begin = static_cast<const uint8_t*>(from);
        notes.insert(notes.end(), begin, begin + bytes);
        while (notes.size() % alignment)
            notes.push_back(0);
    };
    const auto* raw = reinterpret_cast<const uint8_t*>(&header);
    notes.insert(notes.end(), raw, raw + sizeof header);
    append(name.c_str(), name.size() + 1);
    append(text.data(), text.size());
}

TEST_CASE("a build id among other notes") {
    for (const size_t alignment : {4, 8}) {
        std::vector<uint8_t> notes;
        add_note(notes, "GNU", NT_GNU_ABI_TAG, std::string(16, 'a'), alignment);
        add_note(notes, "stapsdt", 3, "probe", alignment);
        add_note(notes, "GNU", NT_GNU_BUILD_ID, "01234567890123456789", alignment);
        const BuildId id = build_id_in_notes(notes.data(), notes.size(), alignment);
        CHECK(id.size == 20);
        CHECK(memcmp(id.bytes, "01234567890123456789", 20) == 0);
    }
}

TEST_CASE("short, long and missing build ids") {
    std::vector<uint8_t> notes;
    CHECK(build_id_in_notes(notes.data(), 0, 4).size == 0);
    add_note(notes, "GNU", NT_GNU_BUILD_ID, "8 bytes.", 4);
    CHECK(build_id_in_notes(notes.data(), notes.size(), 4).size == 8);
    notes.clear();
    add_note(notes, "GNU", NT_GNU_BUILD_ID, std::string(64, 'x'), 4);
    CHECK(build_id_in_notes(notes.data(), notes.size(), 4).size == 20);
}

TEST_CASE("notes that are cut off or lie about their size end the search") {
    std::vector<uint8_t> notes;
    add_note(notes, "GNU", NT_GNU_BUILD_ID, "01234567890123456789", 4);
    for (size_t length = 0; length < notes.size(); ++length) {
        const std::vector<uint8_t> part(notes.begin(), notes.begin() + static_cast<long>(length));
        CHECK(build_id_in_notes(part.data(), length, 4).size == 0);
    }
    notes[4] = notes[5] = notes[6] = notes[7] = 0xff; // the description's size
    CHECK(build_id_in_notes(notes.data(), notes.size(), 4).size == 0);
}
