// plumb's end of the table that a pinned group shares (include/plumb/pin_group.h).
#pragma once

#include <plumb/pin_group.h>
#include <string>
#include <vector>

namespace plumb::placement {

// Owns the file and its mapping; removes the file at the end if it was made in a temporary directory.
class PinGroup {
  public:
    // In `directory` (a run directory: the file stays, ranks that find it join it); "" makes a private one under
    // TMPDIR. Throws plumb::Error when the file cannot be made.
    explicit PinGroup(const std::string& directory);
    ~PinGroup();
    PinGroup(const PinGroup&) = delete;
    PinGroup& operator=(const PinGroup&) = delete;

    const std::string& path() const { return path_; }
    const pin::Group& table() const { return *table_; }

    struct Applied {
        uint32_t position; // entry number; may exceed the plan's length: it wrapped around
        pin::GroupEntry entry;
    };
    std::vector<Applied> applied() const; // entries that were used, by position

  private:
    std::string path_, private_directory_;
    pin::Group* table_ = nullptr;
};

} // namespace plumb::placement
