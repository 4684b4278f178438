// printf() and puts() of a kernel. What %s points at is the device's memory, and the thread reads it: the C library's
// own function would do so unseen.
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <string>
#include <utility>

namespace simt {

// The characters that a thread reads there, up to `most` or the end of the text.
static std::string text_at(const char* text, size_t most, void* here) {
  if (!text) return "(null)";
  Worker* w = t_worker;
  std::string out;
  auto mode = w->mode;
  w->mode = mode & CHECK;  // how a GPU's printf brings its texts is no traffic of the kernel's
  for (; out.size() < most; ++text) {
    access((void*)text, 1, READ, here);
    if (!*text) break;
    out += *text;
  }
  w->mode = mode;
  return out;
}

// One argument, as its conversion says.
template <class T>
static void put(std::string& out, const std::string& conversion, T value) {
  char few[128];
  int size = snprintf(few, sizeof few, conversion.c_str(), value);
  if (size < int(sizeof few)) {
    out.append(few, size > 0 ? size : 0);
    return;
  }
  std::string many(size_t(size) + 1, '\0');
  snprintf(many.data(), many.size(), conversion.c_str(), value);
  out.append(many.data(), size);
}

struct Conversion {
  std::string text;         // what printf() is given for it, from % on, without a length
  long precision = -1;
  char kind = 0;
  bool is_long = false, is_wide = false;  // of 64 bits; a long double
};

// Reads from behind the %; widths and precisions that are arguments are taken.
static const char* read_conversion(const char* p, va_list& args, Conversion& one, int& count) {
  one.text = "%";
  while (*p && strchr("-+ #0", *p)) one.text += *p++;
  for (bool precise : {false, true}) {
    if (precise && *p != '.') break;
    if (precise) one.text += *p++;
    std::string number;
    if (*p == '*') {
      number = std::to_string(va_arg(args, int)), ++count, ++p;
    } else {
      while (*p >= '0' && *p <= '9') number += *p++;
    }
    one.text += number;
    if (precise) one.precision = number.empty() ? 0 : atol(number.c_str());
  }
  while (*p && strchr("hljztqL", *p)) {
    one.is_long |= strchr("ljztq", *p) != nullptr;
    one.is_wide |= *p++ == 'L';
  }
  one.kind = *p ? *p++ : 0;
  return p;
}

// The number of arguments, which is what a GPU's printf() returns.
static int print(const char* format, va_list& args, void* here) {
  std::string out;
  int count = 0;
  for (const char* p = format; *p;) {
    if (*p != '%') {
      out += *p++;
      continue;
    }
    Conversion one;
    const char* begin = p;
    p = read_conversion(p + 1, args, one, count);
    if (one.kind == '%') {
      out += '%';
    } else if (one.kind && strchr("dicouxX", one.kind)) {
      bool is_signed = one.kind == 'd' || one.kind == 'i' || one.kind == 'c';
      if (one.is_long)
        put(out, one.text + "ll" + one.kind, va_arg(args, long long));
      else if (is_signed)
        put(out, one.text + one.kind, va_arg(args, int));
      else
        put(out, one.text + one.kind, va_arg(args, unsigned));
      ++count;
    } else if (one.kind && strchr("eEfFgGaA", one.kind)) {
      one.is_wide ? put(out, one.text + "L" + one.kind, va_arg(args, long double))
                  : put(out, one.text + one.kind, va_arg(args, double));
      ++count;
    } else if (one.kind == 'p') {
      put(out, one.text + "p", va_arg(args, void*)), ++count;
    } else if (one.kind == 's') {
      size_t most = one.precision < 0 ? ~size_t(0) : size_t(one.precision);
      std::string text = text_at(va_arg(args, const char*), most, here);
      put(out, one.text + "s", text.c_str()), ++count;
    } else {
      out.append(begin, p);
    }
  }
  fwrite(out.data(), 1, out.size(), stdout);
  return count;
}

}  // namespace simt

SIMT_CALL int __wrap_vprintf(const char* format, va_list args) {
  if (!simt::t_worker) return vprintf(format, args);
  va_list own;
  va_copy(own, args);
  int count = simt::print(format, own, HERE);
  va_end(own);
  return count;
}

SIMT_CALL int __wrap_printf(const char* format, ...) {
  va_list args;
  va_start(args, format);
  int count = simt::t_worker ? simt::print(format, args, HERE) : vprintf(format, args);
  va_end(args);
  return count;
}

// What the compiler makes of printf("%s\n", text).
SIMT_CALL int __wrap_puts(const char* text) {
  if (!simt::t_worker) return puts(text);
  std::string line = simt::text_at(text, ~size_t(0), HERE) + "\n";
  fwrite(line.data(), 1, line.size(), stdout);
  return 1;
}
