// The encoding of the arguments and results of calls between the host and a runner process, for each type in the tables of the stable tier
// (include/backplane/stable).
//
// The members of each struct are listed here once, for writing and for reading. The parameters of a function are deduced from the type of
// its member in the table, so a changed function of the table does not compile until this file has an encoding for its parameters.
//
// Thread-safety: values.
// Lifetime:      the arguments that a Kept passes to a function point into the payload and into the Kept.
// Errors:        when a Reader has failed, the values that are read are 0 or empty.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/stable/plugin.h"
#include "runner/frame.hpp"
#include "stable/conversions.hpp"

namespace backplane::runner {

// ---- members

template <class F>
void members(bp_resource& each, F&& f) {
  f(each.group, each.version, each.resource);
}
template <class F>
void members(bp_match& each, F&& f) {
  f(each.group, each.version, each.resource, each.subresource);
}
template <class F>
void members(bp_write& each, F&& f) {
  f(each.operation, each.dry_run, each.group, each.version, each.resource, each.subresource, each.kind, each.ns, each.name, each.object,
    each.old_object);
}
template <class F>
void members(bp_access& each, F&& f) {
  f(each.verb, each.is_resource, each.path, each.group, each.version, each.ns, each.resource, each.subresource, each.name);
}

// The settings of an audit sink.
template <class F>
void members(bp_audit_sink& each, F&& f) {
  f(each.level, each.omit_stages, each.omit_managed_fields, each.when_full, each.most_events, each.most_written);
}

// ---- values

template <class T>
concept Number = std::is_integral_v<T>;

template <Number T>
void put(Writer& out, T value) {
  out.number(static_cast<std::uint64_t>(value), sizeof(T));
}
template <Number T>
void take(Reader& in, T& value) {
  value = static_cast<T>(in.number(sizeof(T)));
}
inline void put(Writer& out, bp_str value) { out.text(stable::view(value)); }
inline void take(Reader& in, bp_str& value) { value = stable::str(in.text()); }
template <class T>
concept Struct = requires(T& value) {
  members(value, [](auto&...) {});
};
template <Struct T>
void put(Writer& out, const T& value) {
  members(const_cast<T&>(value), [&out](const auto&... each) { (put(out, each), ...); });
}
template <Struct T>
void take(Reader& in, T& value) {
  members(value, [&in](auto&... each) { (take(in, each), ...); });
}

inline void put(Writer& out, const bp_str* list, std::size_t count) {
  out.number(count, 4);
  for (std::size_t i = 0; i < count; ++i) put(out, list[i]);
}
inline std::vector<bp_str> take_texts(Reader& in) {
  std::vector<bp_str> out(in.count(4));
  for (auto& each : out) take(in, each);
  return out;
}

void put(Writer& out, const bp_user& user);
class TakenUser {
 public:
  void take(Reader& in);
  const bp_user* table() const noexcept { return &user_; }

 private:
  std::vector<bp_str> groups_;
  bp_user user_{};
};

void put(Writer& out, const bp_error& error);
void take(Reader& in, bp_error& error);
// A null `text` is encoded as well, and take_given() returns null for it.
void put(Writer& out, const bp_text* text);
bp_text* take_given(Reader& in);

// ---- Parameter<T>, the encoding of a parameter. The caller uses send() for the argument, and fill() for what the function has written.
// The called side uses Kept: take() reads the argument, given() passes it to the function, answer() writes what the function has written.

template <class T>
struct Parameter {
  static void send(Writer& out, T value) { put(out, value); }
  static void fill(Reader&, T) {}
  struct Kept {
    T value{};
    void take(Reader& in) { runner::take(in, value); }
    T given() { return value; }
    void answer(Writer&) {}
  };
};

template <Struct T>
struct Parameter<const T*> {
  static void send(Writer& out, const T* value) { put(out, *value); }
  static void fill(Reader&, const T*) {}
  struct Kept {
    T value{};
    void take(Reader& in) { runner::take(in, value); }
    const T* given() { return &value; }
    void answer(Writer&) {}
  };
};

// A struct with a pointer to a user; the user is sent, too. On the called side, the bp_request of a write is a pointer to the struct
// itself. The host does not receive it, and uses the request of the thread that made the call (call_subject() in proxy.hpp).
template <class T>
concept OfUser = Struct<T> && requires(T& value) {
  value.user;
};

template <OfUser T>
struct Parameter<const T*> {
  static void send(Writer& out, const T* value) {
    put(out, *value);
    put(out, *value->user);
  }
  static void fill(Reader&, const T*) {}
  struct Kept {
    T value{};
    TakenUser user;
    void take(Reader& in) {
      runner::take(in, value);
      user.take(in);
      value.struct_size = sizeof(value);
      value.user = user.table();
      if constexpr (requires { value.request; }) value.request = reinterpret_cast<bp_request*>(&value);
    }
    const T* given() { return &value; }
    void answer(Writer&) {}
  };
};

template <>
struct Parameter<bp_output*> {
  static void send(Writer&, bp_output*) {}
  static void fill(Reader& in, bp_output* output) { output->bytes.append(in.text()); }
  struct Kept {
    bp_output value;
    void take(Reader&) {}
    bp_output* given() { return &value; }
    void answer(Writer& out) { out.text(value.bytes); }
  };
};

template <>
struct Parameter<bp_error*> {
  static void send(Writer&, bp_error*) {}
  static void fill(Reader& in, bp_error* error) { take(in, *error); }
  struct Kept {
    bp_error value{};
    void take(Reader&) {}
    bp_error* given() { return &value; }
    void answer(Writer& out) { put(out, value); }
  };
};

// The field errors in the runner process; a bp_field_errors* points to this struct there.
struct FieldErrorList {
  struct Row {
    std::uint32_t type;
    std::string field, value, detail;
  };
  std::vector<Row> rows;
};
template <>
struct Parameter<bp_field_errors*> {
  static void send(Writer&, bp_field_errors*) {}
  static void fill(Reader& in, bp_field_errors* errors);
  struct Kept {
    FieldErrorList value;
    void take(Reader&) {}
    bp_field_errors* given() { return reinterpret_cast<bp_field_errors*>(&value); }
    void answer(Writer& out);
  };
};

// A request in the runner process; a bp_exchange* points to this struct there.
struct RemoteExchange {
  bp_str method{}, target{}, body{};
  TakenUser user;
  std::deque<std::string> headers_read;
  std::vector<std::pair<std::string, std::string>> headers;
  std::int32_t code = 0;
  std::string content_type, response;
};
template <>
struct Parameter<bp_exchange*> {
  static void send(Writer& out, bp_exchange* exchange);
  static void fill(Reader& in, bp_exchange* exchange);
  struct Kept {
    RemoteExchange value;
    void take(Reader& in);
    bp_exchange* given() { return reinterpret_cast<bp_exchange*>(&value); }
    void answer(Writer& out);
  };
};

// A queue is not sent: each controller has one queue, and both sides find it by the controller.
template <>
struct Parameter<bp_queue*> {
  static void send(Writer&, bp_queue*) {}
  static void fill(Reader&, bp_queue*) {}
  struct Kept {
    bp_queue* value = nullptr;  // the called side sets it before the call
    void take(Reader&) {}
    bp_queue* given() { return value; }
    void answer(Writer&) {}
  };
};

}  // namespace backplane::runner
