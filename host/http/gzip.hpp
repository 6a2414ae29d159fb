// Compresses text with gzip, level 1, piece by piece.
//
// Thread-safety: belongs to one response.
// Errors:        only std::bad_alloc, because deflate() cannot fail with buffers in memory.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace backplane {

class GzipStream {
 public:
  GzipStream();
  ~GzipStream();
  // Compresses `text`; the result may be buffered until more text follows.
  std::string add(std::string_view text);
  // Returns the rest of the compressed text and the gzip trailer.
  std::string end();

 private:
  struct State;
  std::string run(std::string_view text, int flush);
  std::unique_ptr<State> state_;
};

}  // namespace backplane
