// How far `backplane store reencrypt` has come, in a file: resources that are complete, and the continue token of the next page.
//
// Thread-safety: one thread.
// Errors:        a file that cannot be read or written is ignored: the run starts from the beginning, or cannot be continued.
//                Progress of another server or of another encryption configuration is not used.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace backplane {

class ReencryptProgress {
 public:
  ReencryptProgress() = default;
  // If `file` is empty, nothing is saved. `configuration`: the hash of the encryption configuration.
  static ReencryptProgress load(std::string file, std::string_view server, std::string_view configuration);

  bool is_resumed() const noexcept { return resumed_; }
  bool is_done(const std::string& resource) const { return done_.contains(resource); }
  // Returns the token to continue with; empty: the first page.
  std::string begin(const std::string& resource);
  void advance(std::string token);
  void finish();
  // Deletes the file, because the work is complete.
  void remove();

 private:
  void save() const;

  std::string file_, server_, configuration_;
  std::set<std::string> done_;
  std::string resource_, token_;
  bool resumed_ = false;
};

}  // namespace backplane
