// gzip, level 1, piece by piece.
//
// Thread-safety: belongs to one response.
// Errors:        none but std::bad_alloc: deflate of memory cannot fail.
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
  // The rest, with the trailer.
  std::string end();

 private:
  struct State;
  std::string run(std::string_view text, int flush);
  std::unique_ptr<State> state_;
};

}  // namespace backplane
