#include "endpoints/body_writer.hpp"

namespace backplane::endpoints {

BodyWriter::BodyWriter(Exchange& exchange, int code, std::string_view content_type, bool pretty)
    : exchange_(exchange), code_(code), content_type_(content_type) {
  if (pretty) indenter_.emplace();
}

void BodyWriter::seal() {
  if (text_.empty()) return;
  std::string text;
  if (indenter_) {
    indenter_->feed(text_, text);
  } else {
    text = std::move(text_);
  }
  text_.clear();
  pending_ += text.size();
  pieces_.emplace_back(std::move(text));
}

void BodyWriter::share(SharedBytes bytes) {
  if (indenter_) {
    text_.append(bytes.view());
    return;
  }
  seal();
  pending_ += bytes.size();
  pieces_.push_back(std::move(bytes));
}

Task<Status> BodyWriter::flush() {
  seal();
  if (pieces_.empty()) co_return Status();
  if (!exchange_.started()) {
    Status started = co_await exchange_.start(code_, content_type_);
    if (!started.ok()) co_return started;
  }
  std::vector<SharedBytes> pieces = std::move(pieces_);
  pieces_.clear();
  pending_ = 0;
  auto writing = exchange_.write(std::move(pieces));
  Status written = co_await std::move(writing);
  // The response is large, so more text will follow.
  text_.reserve(kChunkBytes + kShareBytes);
  co_return written;
}

Task<Status> BodyWriter::finish() {
  if (exchange_.started()) {
    Status written = co_await flush();
    if (!written.ok()) co_return written;
    co_await exchange_.finish();
    co_return Status();
  }
  seal();
  auto responding = exchange_.respond(code_, content_type_, std::move(pieces_));
  co_await std::move(responding);
  co_return Status();
}

}  // namespace backplane::endpoints
