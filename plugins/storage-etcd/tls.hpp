// TLS over memory for one connection to etcd: what is read goes in, what is to be sent comes out.
//
// Thread-safety: one thread at a time.
// Errors:        a sentence for people, empty when all is well.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "settings.hpp"

struct ssl_ctx_st;
struct ssl_st;

namespace backplane::etcd {

class Tls {
 public:
  // Reads the files of `settings` anew.  Null, and `error` says why: they cannot be used.
  static std::unique_ptr<Tls> make(const Settings& settings, const std::string& host, std::string& error);
  ~Tls();
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  // Takes what has come; appends what it says to `plain`, and what is to be sent (of the handshake, too) to `out`.
  std::string receive(std::string_view bytes, std::string& plain, std::string& out);
  // The client speaks first.
  std::string begin(std::string& out);
  std::string send(std::string_view plain, std::string& out);
  bool established() const noexcept { return established_; }

 private:
  Tls() = default;
  std::string use(const Settings& settings, const std::string& host);
  bool expect(std::string host);
  std::string go_on();
  void drain(std::string& out);
  std::string failure() const;

  ssl_ctx_st* context_ = nullptr;
  ssl_st* ssl_ = nullptr;
  bool established_ = false;
};

}  // namespace backplane::etcd
