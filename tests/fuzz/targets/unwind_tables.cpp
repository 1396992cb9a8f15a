#include "elf_parts.h"
#include "target.h"

#include "unwind/unwind_image.h"

namespace plumb::fuzz {

void run_unwind_tables(Bytes input) {
    const std::vector<uint8_t> exact(input.begin(), input.end()); // with a sanitizer, its ends are watched
    const auto image = unwind::UnwindImage::of_memory(exact);
    if (!image)
        return;
    const Span code = code_of_elf(input);
    for (uint64_t i = 0; i < 16; ++i) {
        const uint64_t address = code.begin + (code.end - code.begin) / 16 * i;
        if (const auto function = image->function_at(address))
            require(function->start <= address);
        require(image->rule_at(address) == image->rule_at(address));
    }
    for (const uint64_t far : {uint64_t{0}, uint64_t{UINT64_MAX}, uint64_t{1} << 63}) {
        image->function_at(far);
        image->rule_at(far);
        image->address_of(far);
    }
}

Seeds seeds_of_unwind_tables() { return {}; } // the corpus has programs

} // namespace plumb::fuzz
