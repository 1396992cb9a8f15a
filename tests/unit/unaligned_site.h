// An unaligned instruction made up for tests: `hits` accesses, the n-th of them `stride` bytes behind the one before.
#pragma once

#include "model/run.h"

namespace plumb::testing {

inline model::UnalignedSite unaligned_site(uint64_t instruction, const model::AccessKind& kind, uint64_t first_address,
                                           uint64_t hits, uint64_t stride) {
    model::UnalignedSite site;
    site.address = instruction;
    site.kind = kind;
    site.code = {0xf2, 0x0f, 0x10, 0x07};
    site.exact = true;
    site.hits = hits;
    for (uint64_t hit = 0; hit < hits; hit++) {
        const uint64_t address = first_address + hit * stride;
        site.residues[address % model::kLineBytes]++;
        site.page_crossings += address % model::kPageBytes + kind.width > model::kPageBytes;
    }
    site.threads = {{0, hits, site.page_crossings}};
    site.addresses.emplace_back().address = first_address;
    return site;
}

} // namespace plumb::testing
