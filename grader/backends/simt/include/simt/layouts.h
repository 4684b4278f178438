// Where the types of a program have bytes that no member has. A copy of a whole object reads those, too, and to
// have written none of them is no mistake.
#pragma once
#include "keywords.h"

#include <cstring>
#include <initializer_list>
#include <type_traits>

namespace simt {

static constexpr size_t LARGEST_LAYOUT = 4096;

// By value: the compiler clears the padding of what a pointer shows only where the type is trivially copyable.
template <class T>
SIMT_UNCOUNTED void clear_padding_of(T value, unsigned char* out) {
#if __has_builtin(__builtin_clear_padding)
  __builtin_clear_padding(&value);
#endif
  memcpy(out, &value, sizeof(T));
}

// 0 for each byte that an object may leave unwritten: padding, and what a union's live member does not take.
template <class T, auto... UNIONS>
SIMT_UNCOUNTED void members_of(unsigned char* out) {
  memset(out, 0xff, sizeof(T));
  if constexpr (std::is_union_v<T>) {
    memset(out, 0, sizeof(T));
  } else {
    alignas(T) unsigned char ones[sizeof(T)];
    memcpy(ones, out, sizeof(T));
    clear_padding_of<T>(*(const T*)ones, out);
    (memset(&(((T*)out)->*UNIONS), 0, sizeof(((T*)out)->*UNIONS)), ...);
  }
}

template <class T>
inline const char type_of = 0;  // its address stands for the type

template <class T, auto... UNIONS>
int tell_layout() {
  // A type that says how it is copied is not copied as a whole.
  if constexpr (std::is_trivially_copy_constructible_v<T> && std::is_trivially_destructible_v<T> && sizeof(T) <= LARGEST_LAYOUT)
    simt_tell_layout(&type_of<T>, sizeof(T), alignof(T), std::is_union_v<T> || sizeof...(UNIONS), members_of<T, UNIONS...>);
  return 0;
}

// A variable's name, and its function's, without a template's arguments, which each compiler spells in its own way.
struct VariableName {
  char text[128] = {};
  constexpr VariableName(const char* name, const char* function = __builtin_FUNCTION()) {
    size_t end = 0;
    for (const char* part : {name, "@", function})
      for (; *part && *part != '<' && end < sizeof text - 1; ++part) text[end++] = *part;
  }
};

template <class T, auto... UNIONS>
struct Told {
  static int once;
};
template <class T, auto... UNIONS>
int Told<T, UNIONS...>::once = tell_layout<T, UNIONS...>();

template <class T, VariableName NAME>
struct ToldShared {
  static int once;
};
template <class T, VariableName NAME>
int ToldShared<T, NAME>::once = (tell_layout<T>(), simt_tell_shared(NAME.text, &type_of<T>), 0);

// To name one of these tells the runtime of a type, or of a shared variable of it, when the module is loaded.
// compile/layouts.py does so in each class of the program, and behind each declaration.
#if defined(SIMT_FAST) || !__has_builtin(__builtin_clear_padding)
template <class T, auto... UNIONS>
inline constexpr bool known = true;
template <class T, VariableName NAME>
inline constexpr bool known_shared = true;
#else
template <class T, auto... UNIONS>
inline constexpr bool known = &Told<T, UNIONS...>::once != nullptr;
template <class T, VariableName NAME>
inline constexpr bool known_shared = [] {
  if constexpr (std::is_class_v<T> || std::is_union_v<T>) return &ToldShared<T, NAME>::once != nullptr;
  return true;
}();
#endif

// Dynamic shared memory is one variable: nvcc takes each name of it with one type, in templates too. The first
// type that is told defines a function by the variable's name, whose result is that type.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
template <VariableName NAME>
struct Dynamic {
  friend auto type_of_dynamic(Dynamic);
};
#pragma GCC diagnostic pop
template <VariableName NAME, class T>
struct FirstDynamic {
  friend auto type_of_dynamic(Dynamic<NAME>) { return (T*)nullptr; }
  static constexpr bool known = true;
};
template <VariableName NAME, class T, class DECLARED = std::remove_extent_t<std::remove_reference_t<T>>>
inline constexpr bool one_dynamic_type = [] {
  if constexpr (requires { type_of_dynamic(Dynamic<NAME>()); })
    return std::is_same_v<decltype(type_of_dynamic(Dynamic<NAME>())), DECLARED*>;
  else
    return FirstDynamic<NAME, DECLARED>::known;
}();

}  // namespace simt
