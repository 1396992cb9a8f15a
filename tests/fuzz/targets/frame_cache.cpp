#include "memory_file.h"
#include "target.h"

#include "symbols/frame_cache.h"

#include <fstream>
#include <iterator>

namespace plumb::fuzz {

namespace {

constexpr const char* kKey = "0123456789abcdef";
constexpr const char* kIdentity = "/opt/app/bin/app|4096|1;-";

} // namespace

void run_frame_cache(Bytes input) {
    symbols::FrameCache cache("");
    const bool is_whole = cache.load(std::string(as_text(input)));
    size_t frames = 0;
    for (const auto& [address, list] : cache.frames_of(kKey, kIdentity))
        for (const model::SourceFrame& frame : list)
            frames += frame.function.size() + frame.file.size() > 0;
    require(is_whole || frames == 0);
    cache.forget(kKey);
    require(cache.frames_of(kKey, kIdentity).empty());
}

Seeds seeds_of_frame_cache() {
    const std::string path = scratch_folder() + "/frames";
    {
        symbols::FrameCache cache(path);
        symbols::FrameCache::Frames& frames = cache.frames_of(kKey, kIdentity);
        frames[0x1000] = {{"step", "/src/step.cpp", 12, "", true}, {"solve", "/src/solve.cpp", 40, "", false}};
        frames[0x1010] = {{"solve", "/src/solve.cpp", 41, "", false}};
        cache.frames_of("other", "-")[8] = {{"main", "", 0, "", false}};
        cache.changed();
        cache.save();
    }
    std::ifstream file(path, std::ios::binary);
    return {{"two_modules", std::string(std::istreambuf_iterator<char>(file), {})}};
}

} // namespace plumb::fuzz
