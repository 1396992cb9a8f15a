#include "elf_parts.h"
#include "memory_file.h"
#include "target.h"

#include "platform/elf_image.h"
#include "symbols/elf/elf_image.h"
#include "symbols/elf/function_bounds.h"
#include "symbols/elf/linkage_stubs.h"

namespace plumb::fuzz {

// A whole file, the last bytes of which are asked for as an address, too.
void run_elf_headers(Bytes input) {
    static MemoryFile file;
    file.fill(input);
    if (const auto image = platform::read_elf_image(file.path()))
        require(image->build_id.size() + image->interpreter.size() <= 2 * input.size());
    const auto image = symbols::ElfImage::open(file.path());
    if (!image)
        return;
    for (const symbols::LinkageStub& stub : symbols::read_linkage_stubs(*image))
        require(stub.symbol.size() < input.size());
    const symbols::FunctionBounds bounds(*image);
    std::vector<uint64_t> places = {0, 0x1000, UINT64_MAX};
    for (const symbols::Segment& segment : image->segments())
        for (const uint64_t inside : {uint64_t{0}, segment.file_bytes / 2, segment.file_bytes - 1, segment.file_bytes})
            if (places.size() < 64)
                places.push_back(segment.address + inside);
    for (const uint64_t place : places) {
        require(image->code_at(place, UINT64_MAX).size() <= input.size());
        image->address_of(place);
        if (const auto start = bounds.start_of(place))
            require(*start <= place);
    }
}

Seeds seeds_of_elf_headers() { return {}; } // the corpus has programs

} // namespace plumb::fuzz
