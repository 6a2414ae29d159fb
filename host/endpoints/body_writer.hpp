// A response body that is made piece by piece: small ones are sent at once with their length, large ones in chunks under back-pressure.
//
// Thread-safety: none; one writer per response, on its executor.
// Errors:        write errors are the exchange's (the peer has gone): stop and return.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/points/http.hpp"
#include "endpoints/json_indent.hpp"
#include "engine/codec.hpp"

namespace backplane::endpoints {

class BodyWriter final : public ItemSink {
 public:
  // `content_type` must outlive the writer.  `pretty`: what is appended is compact JSON and is sent indented.
  BodyWriter(Exchange& exchange, int code, std::string_view content_type, bool pretty);

  // True if it is time for flush().
  bool full() const noexcept { return pending_ + text_.size() >= kChunkBytes; }
  Task<Status> flush();
  // Sends the rest and ends the response.
  Task<Status> finish();

  // Answers up to this size go out in one piece.
  static constexpr std::size_t kChunkBytes = 128 * 1024;

 private:
  void share(SharedBytes bytes) override;
  void seal();

  Exchange& exchange_;
  const int code_;
  const std::string_view content_type_;
  std::optional<JsonIndenter> indenter_;
  std::vector<SharedBytes> pieces_;
  std::size_t pending_ = 0;  // bytes in pieces_
};

}  // namespace backplane::endpoints
