// CUDA arrays, textures and surfaces. What a fetch gives is defined in the CUDA C++ Programming Guide, appendix
// "Texture Fetching": addressing modes, and filtering with weights of 8 bits after the point. An array is stored row by
// row here, and a fetch counts as the loads of the elements that it reads.
#pragma once
#include "half_bits.h"
#include "vector_types.h"

// ---- types of the runtime API
enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned,
  cudaChannelFormatKindUnsigned,
  cudaChannelFormatKindFloat,
  cudaChannelFormatKindNone
};
struct cudaChannelFormatDesc {
  int x, y, z, w;
  cudaChannelFormatKind f;
};
struct cudaExtent {
  size_t width, height, depth;
};
struct cudaPos {
  size_t x, y, z;
};
struct cudaPitchedPtr {
  void* ptr;
  size_t pitch, xsize, ysize;
};
inline cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) { return {w, h, d}; }
inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void* p, size_t pitch, size_t x, size_t y) { return {p, pitch, x, y}; }

enum { cudaArrayDefault = 0, cudaArrayLayered = 1, cudaArraySurfaceLoadStore = 2, cudaArrayCubemap = 4 };
enum { cudaArrayTextureGather = 8 };
struct cudaArray {
  cudaChannelFormatDesc desc;
  cudaExtent extent;  // in elements; a height or depth of 0 is a dimension less
  unsigned flags;
  char* data;
};
typedef cudaArray* cudaArray_t;
typedef const cudaArray* cudaArray_const_t;
struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;  // its width in elements where an array takes part, else in bytes
  cudaMemcpyKind kind;
};
enum cudaResourceType {
  cudaResourceTypeArray,
  cudaResourceTypeMipmappedArray,
  cudaResourceTypeLinear,
  cudaResourceTypePitch2D
};
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      size_t width, height, pitchInBytes;
    } pitch2D;
  } res;
};
struct cudaResourceViewDesc;
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization, seamlessCubemap;
};
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;

namespace simt {

// The components of an element: how many, and their type.
template <class T>
struct Channels {
  typedef T type;
  static constexpr int number = 1;
};
#define SIMT_CHANNELS(T, NAME)                            \
  template <>                                             \
  struct Channels<NAME##1> { typedef T type; static constexpr int number = 1; }; \
  template <>                                             \
  struct Channels<NAME##2> { typedef T type; static constexpr int number = 2; }; \
  template <>                                             \
  struct Channels<NAME##3> { typedef T type; static constexpr int number = 3; }; \
  template <>                                             \
  struct Channels<NAME##4> { typedef T type; static constexpr int number = 4; };
SIMT_CHANNELS(signed char, char)
SIMT_CHANNELS(unsigned char, uchar)
SIMT_CHANNELS(short, short)
SIMT_CHANNELS(unsigned short, ushort)
SIMT_CHANNELS(int, int)
SIMT_CHANNELS(unsigned, uint)
SIMT_CHANNELS(float, float)
#undef SIMT_CHANNELS

// What a texture or surface object stands for. `pitch` and `slice` are bytes between rows and between layers.
struct Texture {
  char* data;
  cudaChannelFormatDesc desc;
  int is_linear_memory;
  size_t element, width, height, depth, pitch, slice;
  cudaTextureDesc how;
};
static_assert(sizeof(Texture) == 8 + 20 + 4 + 6 * 8 + 72, "its bytes are told: none may be a gap");

inline size_t element_bytes(const cudaChannelFormatDesc& d) { return size_t(d.x + d.y + d.z + d.w) / 8; }
inline size_t at_least_one(size_t n) { return n ? n : 1; }

}  // namespace simt

// ---- arrays
inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) {
  return {x, y, z, w, f};
}
template <class T>
inline cudaChannelFormatDesc cudaCreateChannelDesc() {
  typedef typename simt::Channels<T>::type C;
  constexpr int bits = 8 * sizeof(C), n = simt::Channels<T>::number;
  constexpr bool is_real = !std::is_integral_v<C>;
  return {bits, n > 1 ? bits : 0, n > 2 ? bits : 0, n > 3 ? bits : 0,
          is_real ? cudaChannelFormatKindFloat
                  : std::is_signed_v<C> ? cudaChannelFormatKindSigned : cudaChannelFormatKindUnsigned};
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf() {
  return {16, 0, 0, 0, cudaChannelFormatKindFloat};
}
inline cudaError_t cudaMalloc3DArray(cudaArray_t* out, const cudaChannelFormatDesc* desc, cudaExtent extent,
                                     unsigned flags = 0) {
  using simt::at_least_one;
  size_t bytes = simt::element_bytes(*desc) * extent.width * at_least_one(extent.height) * at_least_one(extent.depth);
  void* data = nullptr;
  if (!bytes) return (cudaError_t)simt_fail(cudaErrorInvalidValue);
  if (int error = simt_cuda_malloc(&data, bytes)) return (cudaError_t)error;
  *out = new cudaArray{*desc, extent, flags, (char*)data};
  return cudaSuccess;
}
inline cudaError_t cudaMallocArray(cudaArray_t* out, const cudaChannelFormatDesc* desc, size_t width,
                                   size_t height = 0, unsigned flags = 0) {
  return cudaMalloc3DArray(out, desc, {width, height, 0}, flags);
}
inline cudaError_t cudaFreeArray(cudaArray_t array) {
  if (!array) return cudaSuccess;
  cudaError_t error = (cudaError_t)simt_cuda_free(array->data);
  delete array;
  return error;
}
inline cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned* flags, cudaArray_t a) {
  if (desc) *desc = a->desc;
  if (extent) *extent = a->extent;
  if (flags) *flags = a->flags;
  return cudaSuccess;
}
inline cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* desc, cudaArray_const_t a) {
  *desc = a->desc;
  return cudaSuccess;
}

namespace simt {

// Rows of memory that a copy reads or writes: where they begin, and how far apart they and their layers are.
struct Rows {
  char* at;
  size_t pitch, slice;
};
inline Rows rows_of(cudaArray_const_t a, cudaPos at) {
  size_t pitch = a->extent.width * element_bytes(a->desc), slice = pitch * at_least_one(a->extent.height);
  return {a->data + at.x * element_bytes(a->desc) + at.y * pitch + at.z * slice, pitch, slice};
}
inline bool fits(cudaArray_const_t a, cudaPos at, cudaExtent n) {
  return at.x + n.width <= a->extent.width && at.y + n.height <= at_least_one(a->extent.height) &&
         at.z + n.depth <= at_least_one(a->extent.depth);
}
inline cudaError_t copy_rows(Rows to, Rows from, size_t bytes, size_t height, size_t depth, cudaMemcpyKind kind,
                             const cudaStream_t* on) {
  for (size_t z = 0; z < depth; ++z)
    for (size_t y = 0; y < height; ++y) {
      size_t t = z * to.slice + y * to.pitch, f = z * from.slice + y * from.pitch;
      if (on && simt_keep_copy((void*)*on, to.at + t, from.at + f, bytes, kind)) continue;
      if (int error = simt_fail(simt_copy(to.at + t, from.at + f, bytes, kind))) return (cudaError_t)error;
    }
  return cudaSuccess;
}

}  // namespace simt

inline cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch,
                                       size_t bytes, size_t height, cudaMemcpyKind kind,
                                       const cudaStream_t* on = nullptr) {
  size_t element = simt::element_bytes(to->desc);
  if (x % element || bytes % element || !simt::fits(to, {x / element, y, 0}, {bytes / element, height, 1}))
    return (cudaError_t)simt_fail(cudaErrorInvalidValue);
  return simt::copy_rows(simt::rows_of(to, {x / element, y, 0}), {(char*)from, pitch, 0}, bytes, height, 1, kind,
                         on);
}
inline cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                                         size_t bytes, size_t height, cudaMemcpyKind kind,
                                         const cudaStream_t* on = nullptr) {
  size_t element = simt::element_bytes(from->desc);
  if (x % element || bytes % element || !simt::fits(from, {x / element, y, 0}, {bytes / element, height, 1}))
    return (cudaError_t)simt_fail(cudaErrorInvalidValue);
  return simt::copy_rows({(char*)to, pitch, 0}, simt::rows_of(from, {x / element, y, 0}), bytes, height, 1, kind,
                         on);
}
inline cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch,
                                            size_t bytes, size_t height, cudaMemcpyKind kind,
                                            cudaStream_t stream = nullptr) {
  return cudaMemcpy2DToArray(to, x, y, from, pitch, bytes, height, kind, &stream);
}
inline cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                                              size_t bytes, size_t height, cudaMemcpyKind kind,
                                              cudaStream_t stream = nullptr) {
  return cudaMemcpy2DFromArray(to, pitch, from, x, y, bytes, height, kind, &stream);
}
inline cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes,
                                     cudaMemcpyKind kind) {
  simt::Rows rows = simt::rows_of(to, {0, y, 0});
  if (x + y * rows.pitch + bytes > rows.slice) return (cudaError_t)simt_fail(cudaErrorInvalidValue);
  return (cudaError_t)simt_fail(simt_copy(rows.at + x, from, bytes, kind));
}
inline cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                       cudaMemcpyKind kind) {
  simt::Rows rows = simt::rows_of(from, {0, y, 0});
  if (x + y * rows.pitch + bytes > rows.slice) return (cudaError_t)simt_fail(cudaErrorInvalidValue);
  return (cudaError_t)simt_fail(simt_copy(to, rows.at + x, bytes, kind));
}
inline cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p, const cudaStream_t* on = nullptr) {
  cudaArray_const_t array = p->srcArray ? p->srcArray : p->dstArray;
  size_t element = array ? simt::element_bytes(array->desc) : 1;
  for (cudaArray_const_t a : {p->srcArray, p->dstArray})
    if (a && (simt::element_bytes(a->desc) != element || !simt::fits(a, a == p->srcArray ? p->srcPos : p->dstPos,
                                                                     p->extent)))
      return (cudaError_t)simt_fail(cudaErrorInvalidValue);
  auto rows = [](cudaArray_const_t a, cudaPos at, const cudaPitchedPtr& m) -> simt::Rows {
    if (a) return simt::rows_of(a, at);
    return {(char*)m.ptr + at.x + at.y * m.pitch + at.z * m.pitch * m.ysize, m.pitch, m.pitch * m.ysize};
  };
  return simt::copy_rows(rows(p->dstArray, p->dstPos, p->dstPtr), rows(p->srcArray, p->srcPos, p->srcPtr),
                         p->extent.width * element, p->extent.height, p->extent.depth, p->kind, on);
}
inline cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream = nullptr) {
  return cudaMemcpy3D(p, &stream);
}
inline cudaError_t cudaMalloc3D(cudaPitchedPtr* out, cudaExtent extent) {
  *out = {nullptr, (extent.width + 511) / 512 * 512, extent.width, extent.height};
  return (cudaError_t)simt_cuda_malloc(&out->ptr, out->pitch * extent.height * extent.depth);
}
inline cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  for (size_t row = 0; row < extent.height * extent.depth; ++row) {
    size_t at = row / extent.height * to.ysize + row % extent.height;
    if (int error = simt_fail(simt_fill((char*)to.ptr + at * to.pitch, value, extent.width))) return (cudaError_t)error;
  }
  return cudaSuccess;
}

// ---- objects
inline cudaError_t cudaCreateTextureObject(cudaTextureObject_t* out, const cudaResourceDesc* from,
                                           const cudaTextureDesc* how, const cudaResourceViewDesc* view) {
  if (view || from->resType == cudaResourceTypeMipmappedArray || how->sRGB)
    return (cudaError_t)simt_fail(cudaErrorNotSupported);
  simt::Texture t = {};
  t.how = *how;
  if (from->resType == cudaResourceTypeArray) {
    cudaArray_const_t a = from->res.array.array;
    simt::Rows rows = simt::rows_of(a, {});
    t.data = a->data, t.desc = a->desc, t.pitch = rows.pitch, t.slice = rows.slice;
    t.width = a->extent.width, t.height = simt::at_least_one(a->extent.height);
    t.depth = simt::at_least_one(a->extent.depth);
  } else if (from->resType == cudaResourceTypePitch2D) {
    auto& m = from->res.pitch2D;
    t.data = (char*)m.devPtr, t.desc = m.desc, t.width = m.width, t.height = m.height, t.depth = 1;
    t.pitch = m.pitchInBytes, t.slice = m.pitchInBytes * m.height;
    if (t.pitch % 32 || t.pitch < t.width * simt::element_bytes(t.desc))
      return (cudaError_t)simt_fail(cudaErrorInvalidValue);
  } else {
    auto& m = from->res.linear;
    t.data = (char*)m.devPtr, t.desc = m.desc, t.height = t.depth = 1, t.is_linear_memory = true;
    t.width = m.sizeInBytes / simt::at_least_one(simt::element_bytes(m.desc));
    t.pitch = t.slice = m.sizeInBytes;
  }
  t.element = simt::element_bytes(t.desc);
  bool is_real = t.desc.f == cudaChannelFormatKindFloat || how->readMode == cudaReadModeNormalizedFloat;
  if (!t.data || !t.element) return (cudaError_t)simt_fail(cudaErrorInvalidValue);
  if (how->filterMode == cudaFilterModeLinear && !is_real) return (cudaError_t)simt_fail(cudaErrorInvalidFilterSetting);
  if (how->readMode == cudaReadModeNormalizedFloat && (t.desc.f == cudaChannelFormatKindFloat || t.desc.x > 16))
    return (cudaError_t)simt_fail(cudaErrorInvalidNormSetting);
  auto* object = new simt::Texture(t);
  simt_show_kernels(object, sizeof *object);
  *out = (cudaTextureObject_t)object;
  return cudaSuccess;
}
inline cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  simt_wait();  // what is queued may still fetch from it
  simt_show_kernels((simt::Texture*)object, 0);
  delete (simt::Texture*)object;
  return cudaSuccess;
}
inline cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* out, const cudaResourceDesc* from) {
  if (from->resType != cudaResourceTypeArray || !(from->res.array.array->flags & cudaArraySurfaceLoadStore))
    return (cudaError_t)simt_fail(cudaErrorInvalidValue);
  cudaTextureDesc how = {};
  return cudaCreateTextureObject(out, from, &how, nullptr);
}
inline cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) { return cudaDestroyTextureObject(object); }

// ---- fetches
namespace simt {

// Index i of n elements by an addressing mode, -1 beside a border.
SIMT_UNCOUNTED inline long addressed(long i, long n, cudaTextureAddressMode mode, bool normalized) {
  if (!normalized && (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror)) mode = cudaAddressModeClamp;
  switch (mode) {
    case cudaAddressModeWrap: return (i % n + n) % n;
    case cudaAddressModeMirror: return (i = (i % (2 * n) + 2 * n) % (2 * n)) < n ? i : 2 * n - 1 - i;
    case cudaAddressModeClamp: return i < 0 ? 0 : i < n ? i : n - 1;
    default: return i >= 0 && i < n ? i : -1;
  }
}

// A coordinate in elements, from the middle of the first one where neighbours are filtered.
SIMT_UNCOUNTED inline float placed(const Texture* t, float x, size_t n) {
  if (t->how.normalizedCoords) x *= (float)n;
  return t->how.filterMode == cudaFilterModeLinear ? x - 0.5f : x;
}

// Where the element is that lies `corner` (a bit for each dimension) beside the coordinates; nullptr for the border.
SIMT_UNCOUNTED inline const char* fetched(const Texture* t, int dimensions, float x, float y, float z, int layer,
                                          int corner) {
  const size_t size[3] = {t->width, t->height, t->depth};
  const float at[3] = {x, y, z};
  long index[3] = {0, 0, 0};
  for (int d = 0; d < dimensions; ++d) {
    float place = placed(t, at[d], size[d]);
    if (!(place > -1e9f)) place = -1e9f;
    if (place > 1e9f) place = 1e9f;
    index[d] = addressed((long)__builtin_floorf(place) + (corner >> d & 1), (long)size[d], t->how.addressMode[d],
                         t->how.normalizedCoords);
    if (index[d] < 0) return nullptr;
  }
  long layers = (long)(t->depth), slice = dimensions == 3 ? index[2] : layer < 0 ? 0 : layer < layers ? layer : layers - 1;
  return t->data + index[0] * t->element + index[1] * t->pitch + slice * t->slice;
}

// The weight of that element: the distance from the other one, in steps of 1/256.
SIMT_UNCOUNTED inline float weight(const Texture* t, int dimensions, float x, float y, float z, int corner) {
  const size_t size[3] = {t->width, t->height, t->depth};
  const float at[3] = {x, y, z};
  float product = 1;
  for (int d = 0; d < dimensions; ++d) {
    float place = placed(t, at[d], size[d]), part = place - __builtin_floorf(place);
    part = __builtin_floorf(part * 256 + 0.5f) / 256;
    product *= corner >> d & 1 ? part : 1 - part;
  }
  return product;
}

SIMT_UNCOUNTED inline size_t element_of(const Texture* t) { return t->element; }
SIMT_UNCOUNTED inline bool is_filtered(const Texture* t) {
  return t->how.filterMode == cudaFilterModeLinear && !t->is_linear_memory;
}

// Component `i` of an element whose bits these are; as a number if `real`, else as it is stored.
SIMT_UNCOUNTED inline uint32_t component_bits(const Texture* t, uint32_t a, uint32_t b, uint32_t c, uint32_t d, int i) {
  const uint32_t words[4] = {a, b, c, d};
  int bits = t->desc.x, at = i * bits;
  if (at / 8 >= (int)t->element) return 0;
  uint32_t word = words[at / 32] >> (at % 32);
  if (bits == 32) return word;
  word &= (1u << bits) - 1;
  bool is_negative = t->desc.f == cudaChannelFormatKindSigned && word >> (bits - 1);
  return is_negative ? word | ~0u << bits : word;
}
SIMT_UNCOUNTED inline float component(const Texture* t, uint32_t a, uint32_t b, uint32_t c, uint32_t d, int i) {
  uint32_t word = component_bits(t, a, b, c, d, i);
  int bits = t->desc.x;
  if (t->how.readMode == cudaReadModeNormalizedFloat) {
    if (t->desc.f == cudaChannelFormatKindUnsigned) return (float)word / (float)((1u << bits) - 1);
    float value = (float)(int32_t)word / (float)((1u << (bits - 1)) - 1);
    return value < -1 ? -1 : value;
  }
  return t->desc.f == cudaChannelFormatKindFloat && bits == 16 ? half_to_float((uint16_t)word) : from_bits<float>(word);
}
SIMT_UNCOUNTED inline float border(const Texture* t, int i) {
  return t->is_linear_memory ? 0 : t->how.borderColor[i];
}

template <class T>
SIMT_INLINE void set_component(T& value, int i, uint32_t bits, float number) {
  typedef typename Channels<T>::type C;
  if constexpr (std::is_floating_point_v<C>) ((C*)&value)[i] = number;
  else ((C*)&value)[i] = (C)bits;
}

// One element, read by the thread itself, so that the checks see it.
template <class T>
SIMT_INLINE T element_at(const Texture* t, const char* p) {
  T value;
  uint32_t a = 0, b = 0, c = 0, d = 0;
  if (!p) {
    for (int i = 0; i < Channels<T>::number; ++i) set_component(value, i, (uint32_t)(int)border(t, i), border(t, i));
    return value;
  }
  switch (element_of(t)) {
    case 1: a = *(const uint8_t*)p; break;
    case 2: a = *(const uint16_t*)p; break;
    case 4: a = *(const uint32_t*)p; break;
    case 8: {
      uint2 pair = *(const uint2*)p;
      a = pair.x, b = pair.y;
      break;
    }
    default: {
      uint4 all = *(const uint4*)p;
      a = all.x, b = all.y, c = all.z, d = all.w;
    }
  }
  for (int i = 0; i < Channels<T>::number; ++i)
    set_component(value, i, component_bits(t, a, b, c, d, i), component(t, a, b, c, d, i));
  return value;
}

template <class T>
SIMT_INLINE T fetch(cudaTextureObject_t object, int dimensions, float x, float y = 0, float z = 0, int layer = 0) {
  const Texture* t = (const Texture*)object;
  typedef typename Channels<T>::type C;
  if (!is_filtered(t)) return element_at<T>(t, fetched(t, dimensions, x, y, z, layer, 0));
  T sum;
  for (int i = 0; i < Channels<T>::number; ++i) ((C*)&sum)[i] = 0;
  for (int corner = 0; corner < 1 << dimensions; ++corner) {
    float part = weight(t, dimensions, x, y, z, corner);
    if (part == 0) continue;
    T value = element_at<T>(t, fetched(t, dimensions, x, y, z, layer, corner));
    for (int i = 0; i < Channels<T>::number; ++i) ((C*)&sum)[i] += (C)(part * (float)((C*)&value)[i]);
  }
  return sum;
}

SIMT_UNCOUNTED inline const char* fetched_whole(const Texture* t, int i) {
  return i >= 0 && (size_t)i < t->width ? t->data + i * t->element : nullptr;
}

// The face of a cube that a direction meets, and where on it: 0 for the face, 1 and 2 for the coordinates.
SIMT_UNCOUNTED inline float on_cube(float x, float y, float z, int which) {
  float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
  int face;
  float m, s, t;
  if (ax >= ay && ax >= az) face = x < 0, m = ax, s = x < 0 ? z : -z, t = -y;
  else if (ay >= az) face = 2 + (y < 0), m = ay, s = x, t = y < 0 ? -z : z;
  else face = 4 + (z < 0), m = az, s = z < 0 ? -x : x, t = -y;
  return which == 0 ? (float)face : ((which == 1 ? s : t) / m + 1) / 2;
}

}  // namespace simt

template <class T>
SIMT_INLINE T tex1Dfetch(cudaTextureObject_t o, int x) {
  const simt::Texture* t = (const simt::Texture*)o;
  return simt::element_at<T>(t, simt::fetched_whole(t, x));
}
template <class T>
SIMT_INLINE T tex1D(cudaTextureObject_t o, float x) {
  return simt::fetch<T>(o, 1, x);
}
template <class T>
SIMT_INLINE T tex2D(cudaTextureObject_t o, float x, float y) {
  return simt::fetch<T>(o, 2, x, y);
}
template <class T>
SIMT_INLINE T tex3D(cudaTextureObject_t o, float x, float y, float z) {
  return simt::fetch<T>(o, 3, x, y, z);
}
template <class T>
SIMT_INLINE T tex1DLayered(cudaTextureObject_t o, float x, int layer) {
  return simt::fetch<T>(o, 1, x, 0, 0, layer);
}
template <class T>
SIMT_INLINE T tex2DLayered(cudaTextureObject_t o, float x, float y, int layer) {
  return simt::fetch<T>(o, 2, x, y, 0, layer);
}
template <class T>
SIMT_INLINE T texCubemapLayered(cudaTextureObject_t o, float x, float y, float z, int layer) {
  using simt::on_cube;
  int face = (int)on_cube(x, y, z, 0);
  return simt::fetch<T>(o, 2, on_cube(x, y, z, 1), on_cube(x, y, z, 2), 0, 6 * layer + face);
}
template <class T>
SIMT_INLINE T texCubemap(cudaTextureObject_t o, float x, float y, float z) {
  return texCubemapLayered<T>(o, x, y, z, 0);
}
#define SIMT_FETCH_INTO(NAME)                                          \
  template <class T, class... A>                                       \
  SIMT_INLINE void NAME(T* out, cudaTextureObject_t o, A... at) {      \
    *out = NAME<T>(o, at...);                                          \
  }
SIMT_FETCH_INTO(tex1Dfetch)
SIMT_FETCH_INTO(tex1D)
SIMT_FETCH_INTO(tex2D)
SIMT_FETCH_INTO(tex3D)
SIMT_FETCH_INTO(tex1DLayered)
SIMT_FETCH_INTO(tex2DLayered)
SIMT_FETCH_INTO(texCubemap)
SIMT_FETCH_INTO(texCubemapLayered)

// ---- surfaces: x counts bytes, y, z and the layer count rows and layers
namespace simt {

SIMT_UNCOUNTED inline char* surfaced(const Texture* t, long bytes, long x, long y, long z, cudaSurfaceBoundaryMode mode) {
  long row = (long)(t->width * t->element), height = (long)t->height, depth = (long)t->depth;
  if (x >= 0 && x + bytes <= row && y >= 0 && y < height && z >= 0 && z < depth)
    return t->data + x + y * t->pitch + z * t->slice;
  if (mode == cudaBoundaryModeTrap)
    simt_assert_fail("a surface access lies inside of its surface", "", 0, "cudaBoundaryModeTrap");
  if (mode != cudaBoundaryModeClamp) return nullptr;
  auto clamped = [](long i, long n) { return i < 0 ? 0 : i < n ? i : n - 1; };
  return t->data + clamped(x / bytes, row / bytes) * bytes + clamped(y, height) * t->pitch + clamped(z, depth) * t->slice;
}
template <class T>
SIMT_INLINE T surface_read(cudaSurfaceObject_t o, int x, int y, int z, cudaSurfaceBoundaryMode mode) {
  const char* p = surfaced((const Texture*)o, sizeof(T), x, y, z, mode);
  return p ? *(const T*)p : T{};
}
template <class T>
SIMT_INLINE void surface_write(T value, cudaSurfaceObject_t o, int x, int y, int z, cudaSurfaceBoundaryMode mode) {
  if (char* p = surfaced((const Texture*)o, sizeof(T), x, y, z, mode)) *(T*)p = value;
}

}  // namespace simt

#define SIMT_SURFACE(NAME, PARAMETERS, AT)                                                                      \
  template <class T>                                                                                            \
  SIMT_INLINE T NAME##read(cudaSurfaceObject_t o, SIMT_LIST PARAMETERS,                                         \
                           cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                               \
    return simt::surface_read<T>(o, SIMT_LIST AT, mode);                                                        \
  }                                                                                                             \
  template <class T>                                                                                            \
  SIMT_INLINE void NAME##read(T* out, cudaSurfaceObject_t o, SIMT_LIST PARAMETERS,                              \
                              cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                            \
    *out = simt::surface_read<T>(o, SIMT_LIST AT, mode);                                                        \
  }                                                                                                             \
  template <class T>                                                                                            \
  SIMT_INLINE void NAME##write(T value, cudaSurfaceObject_t o, SIMT_LIST PARAMETERS,                            \
                               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                           \
    simt::surface_write<T>(value, o, SIMT_LIST AT, mode);                                                       \
  }
#define SIMT_LIST(...) __VA_ARGS__
SIMT_SURFACE(surf1D, (int x), (x, 0, 0))
SIMT_SURFACE(surf2D, (int x, int y), (x, y, 0))
SIMT_SURFACE(surf3D, (int x, int y, int z), (x, y, z))
SIMT_SURFACE(surf1DLayered, (int x, int layer), (x, 0, layer))
SIMT_SURFACE(surf2DLayered, (int x, int y, int layer), (x, y, layer))
#undef SIMT_SURFACE
#undef SIMT_LIST
#undef SIMT_FETCH_INTO
