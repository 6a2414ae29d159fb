// Header blocks of SPDY/3: names and values, compressed with one zlib stream for the whole connection, and with the protocol's dictionary.
//
// Thread-safety: one connection's executor.
// Errors:        an empty block if zlib fails, which happens only without memory.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace backplane::core::spdy {

// The initial dictionary of the compression (SPDY Protocol, draft 3, 2.6.10.1).
const std::string& dictionary();

class HeaderWriter {
 public:
  HeaderWriter();
  ~HeaderWriter();
  // Returns the block for `headers`, whose names must be in lower case.
  std::string block(const std::vector<std::pair<std::string_view, std::string_view>>& headers);

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace backplane::core::spdy
