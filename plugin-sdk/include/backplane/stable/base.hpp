// The C++ wrapper of the stable tier: texts, errors, the host, and the base class of plugins. Header-only C++20, compiled into the plugin;
// host and plugin communicate only through the C tables.
//
//   class Stock final : public backplane::stable::Plugin {
//     void provision(backplane::stable::Host& host) override { … }
//   };
//   BACKPLANE_STABLE_PLUGIN(Stock, "plugin.json")
//
// Thread-safety: that of the C tables; the C headers name the thread of each callback.
// Lifetime:      a Host keeps what is registered through it until the plugin is destroyed.
// Errors:        an Error, or another exception, that a callback throws becomes the bp_error of the call. Failed calls of the host throw
// Error.
#pragma once

#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backplane/stable/base.h"
#include "backplane/stable/manifest.h"

namespace backplane::stable {

inline bp_str str(std::string_view text) noexcept { return {text.data(), text.size()}; }
inline std::string_view view(bp_str text) noexcept { return text.size == 0 ? std::string_view() : std::string_view(text.data, text.size); }

// An error with the code and the reason of a metav1.Status. 0 and empty: the default of the callback.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, std::string reason = {}, int code = 0)
      : std::runtime_error(message), reason_(std::move(reason)), code_(code) {}
  explicit Error(const bp_error& error) : Error(error.message, error.reason, error.code) {}
  const std::string& reason() const noexcept { return reason_; }
  int code() const noexcept { return code_; }

 private:
  std::string reason_;
  int code_;
};

namespace detail {

template <std::size_t N>
void fill(char (&to)[N], std::string_view from) noexcept {
  const std::size_t size = from.size() < N ? from.size() : N - 1;
  std::memcpy(to, from.data(), size);
  to[size] = '\0';
}

// The exception that is being handled, as an error.
inline void take_exception(bp_error* error) noexcept {
  try {
    throw;
  } catch (const Error& thrown) {
    error->code = thrown.code();
    fill(error->reason, thrown.reason());
    fill(error->message, thrown.what());
  } catch (const std::exception& thrown) {
    fill(error->message, thrown.what());
  } catch (...) {
    fill(error->message, "an exception of an unknown type");
  }
}

// The barrier around each callback.
template <class Work>
int32_t barrier(bp_error* error, Work work) noexcept {
  try {
    work();
    return 0;
  } catch (...) {
    take_exception(error);
    return -1;
  }
}

// Calls a function of the host; throws the error that it reports.
template <class Call>
void checked(Call call) {
  bp_error error{};
  if (call(&error) != 0) throw Error(error);
}

}  // namespace detail

// The host, during provision() and afterwards.
class Host {
 public:
  explicit Host(const bp_host* host) noexcept : host_(host) {}
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  void log(int level, std::string_view text) const { host_->log(host_->context, level, str(text)); }
  // The value of a flag of the server; empty if it is not set.
  std::string flag(std::string_view name) const { return take(host_->flag(host_->context, str(name))); }

  // ---- for the other headers of the face
  const bp_host& table() const noexcept { return *host_; }
  bp_context* context() const noexcept { return host_->context; }
  // The table NAME. Throws Error if the server does not have it.
  template <class Table>
  const Table& find(std::string_view name, std::uint32_t version) const {
    const void* found = host_->table(host_->context, str(name), version);
    if (found == nullptr) throw Error("the server has no table " + std::string(name) + " " + std::to_string(version));
    return *static_cast<const Table*>(found);
  }
  // The bytes of a text, which is released.
  std::string take(bp_text* text) const {
    if (text == nullptr) return {};
    std::string bytes(view(host_->view(text)));
    host_->release(text);
    return bytes;
  }
  void write(bp_output* output, std::string_view bytes) const { host_->write(output, str(bytes)); }
  // Keeps an object as long as the plugin.
  template <class T>
  T* keep(T object) {
    auto kept = std::make_shared<T>(std::move(object));
    kept_.push_back(kept);
    return kept.get();
  }

 private:
  const bp_host* const host_;
  std::vector<std::shared_ptr<void>> kept_;
};

class Plugin {
 public:
  virtual ~Plugin() = default;
  virtual void configure(std::string_view) {}
  virtual void provision(Host& host) = 0;
  virtual void validate() {}
};

namespace detail {

// A plugin, its host, and its table.
template <class T>
struct Entry {
  T plugin;
  std::unique_ptr<Host> host;
  bp_plugin table{};

  static const bp_plugin* make(bp_error* error) noexcept {
    const bp_plugin* made = nullptr;
    barrier(error, [&made] {
      auto entry = std::make_unique<Entry>();
      entry->table.struct_size = sizeof(bp_plugin);
      entry->table.self = entry.get();
      entry->table.configure = [](void* self, bp_str config, bp_error* wrong) {
        return barrier(wrong, [&] { base(self).configure(view(config)); });
      };
      entry->table.provision = [](void* self, const bp_host* host, bp_error* wrong) {
        return barrier(wrong, [&] {
          auto& own = *static_cast<Entry*>(self);
          own.host = std::make_unique<Host>(host);
          base(self).provision(*own.host);
        });
      };
      entry->table.validate = [](void* self, bp_error* wrong) { return barrier(wrong, [&] { base(self).validate(); }); };
      entry->table.destroy = [](void* self) { delete static_cast<Entry*>(self); };
      made = &entry.release()->table;
    });
    return made;
  }
  static Plugin& base(void* self) noexcept { return static_cast<Entry*>(self)->plugin; }
};

}  // namespace detail
}  // namespace backplane::stable

// The entry point and the manifest, in one source.
#define BACKPLANE_STABLE_PLUGIN(Type, manifest) \
  BP_MANIFEST(manifest)                         \
  extern "C" const bp_plugin* backplane_stable_plugin(bp_error* error) { return ::backplane::stable::detail::Entry<Type>::make(error); }
