// The C++ wrapper of the stable tier: texts, errors, the host, and the base class of plugins. It is header-only C++20 and compiled into the
// plugin. Host and plugin communicate only with the C tables.
//
//   class Stock final : public backplane::stable::Plugin {
//     void provision(backplane::stable::Host& host) override { … }
//   };
//   BACKPLANE_STABLE_PLUGIN(Stock, "plugin.json")
//
// Thread-safety: like the C tables; the C headers document the thread of each callback.
// Lifetime:      a Host stores the objects that are registered with it until the plugin is destroyed.
// Errors:        if a callback throws an Error or another exception, the wrapper converts it into the bp_error of the call. If a call of
//                the host fails, the wrapper throws an Error.
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

// An error with the code and the reason of a metav1.Status. Code 0 and an empty reason: the callback's default applies.
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

// Converts the exception that is being handled into `error`.
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

// Calls `work` and converts an exception into `error`. Every callback uses it, because no exception may leave a function of a plugin.
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

// Calls a function of the host. If the function fails, throws its error.
template <class Call>
void checked(Call call) {
  bp_error error{};
  if (call(&error) != 0) throw Error(error);
}

}  // namespace detail

// The functions of the host, during provision() and afterwards.
class Host {
 public:
  explicit Host(const bp_host* host) noexcept : host_(host) {}
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  void log(int level, std::string_view text) const { host_->log(host_->context, level, str(text)); }
  // The value of a flag of the server; empty if it is not set.
  std::string flag(std::string_view name) const { return take(host_->flag(host_->context, str(name))); }

  // ---- for the other wrapper headers
  const bp_host& table() const noexcept { return *host_; }
  bp_context* context() const noexcept { return host_->context; }
  // Returns the table with this name. Throws an Error if the server does not have it in this version.
  template <class Table>
  const Table& find(std::string_view name, std::uint32_t version) const {
    const void* found = host_->table(host_->context, str(name), version);
    if (found == nullptr) throw Error("the server has no table " + std::string(name) + " " + std::to_string(version));
    return *static_cast<const Table*>(found);
  }
  // Returns the bytes of `text` and releases it. Returns an empty string if `text` is null.
  std::string take(bp_text* text) const {
    if (text == nullptr) return {};
    std::string bytes(view(host_->view(text)));
    host_->release(text);
    return bytes;
  }
  void write(bp_output* output, std::string_view bytes) const { host_->write(output, str(bytes)); }
  // Stores an object as long as the plugin exists.
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

// A plugin, its Host, and its bp_plugin.
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

// Defines the entry point and embeds the manifest. Use it once, in one source file.
#define BACKPLANE_STABLE_PLUGIN(Type, manifest) \
  BP_MANIFEST(manifest)                         \
  extern "C" const bp_plugin* backplane_stable_plugin(bp_error* error) { return ::backplane::stable::detail::Entry<Type>::make(error); }
