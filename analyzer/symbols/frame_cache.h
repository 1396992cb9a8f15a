// Resolved frames, kept from one report to the next. One file holds all modules of a run; what belongs to a module is
// thrown away when the file it was read from, or its debug file, is another one by now.
#pragma once

#include "model/source_resolver.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace plumb::symbols {

class FrameCache {
  public:
    using Frames = std::unordered_map<uint64_t, std::vector<model::SourceFrame>>; // by address in the file

    // `path` "": nothing is read and nothing will be written. A file that is damaged, of another version
    // or of another owner counts as empty.
    explicit FrameCache(std::string path);

    // Takes over the content of such a file instead. False, and nothing is known: it is damaged or of another version.
    bool load(std::string bytes);

    // The frames of the module `key` (build id or path) as read from `identity` (paths, sizes, times of the files);
    // empty when those kept were read from something else. The reference stays valid; `module` in the frames is
    // empty. Report additions by changed().
    Frames& frames_of(const std::string& key, const std::string& identity);
    void changed() { is_changed_ = true; }
    void forget(const std::string& key);

    // Writes a new file and puts it in the old one's place; does nothing if nothing changed or it cannot.
    void save();

  private:
    struct ModuleFrames {
        std::string identity;
        Frames frames;
    };

    std::string path_;
    std::unordered_map<std::string, ModuleFrames> modules_;
    bool is_changed_ = false;
};

} // namespace plumb::symbols
