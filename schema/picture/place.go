// Package picture recognises the accepted picture formats and removes a camera's metadata.
package picture

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
)

// Kind returns a picture's media type by its first bytes: JPEG, PNG, WebP or GIF; "" for any other file.
func Kind(data []byte) string {
	switch begins := string(data[:min(len(data), 12)]); {
	case strings.HasPrefix(begins, "\xff\xd8\xff"):
		return "image/jpeg"
	case strings.HasPrefix(begins, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case strings.HasPrefix(begins, "GIF87a"), strings.HasPrefix(begins, "GIF89a"):
		return "image/gif"
	case strings.HasPrefix(begins, "RIFF") && strings.HasSuffix(begins, "WEBP"):
		return "image/webp"
	}
	return ""
}

// WithoutPlace removes a camera's metadata from a picture: place, time, device, preview. The orientation stays. Unknown
// parts stay unchanged.
func WithoutPlace(media string, data []byte) []byte {
	switch media {
	case "image/jpeg":
		return plainJPEG(data)
	case "image/png":
		return plainPNG(data)
	case "image/webp":
		return plainWebP(data)
	}
	return data
}

// plainJPEG keeps the segments of the picture: of APPn only JFIF (0), color profile (2) and Adobe's (14), no comment,
// and nothing after the end of the picture.
func plainJPEG(data []byte) []byte {
	out := append(make([]byte, 0, len(data)), data[:2]...)
	turned := uint16(1)
	for i := 2; i+1 < len(data); {
		marker := data[i+1]
		switch {
		case data[i] != 0xff:
			return data
		case marker == 0xff: // fill byte
			i++
			continue
		case marker == 0xd9:
			return turnedJPEG(append(out, 0xff, 0xd9), turned)
		case marker >= 0xd0 && marker <= 0xd7, marker == 0x01:
			out = append(out, data[i:i+2]...)
			i += 2
			continue
		}
		if i+4 > len(data) {
			return data
		}
		end := i + 2 + int(binary.BigEndian.Uint16(data[i+2:]))
		if end > len(data) || end < i+4 {
			return data
		}
		segment := data[i:end]
		switch {
		case marker == 0xe1 && bytes.HasPrefix(segment[4:], []byte("Exif\x00\x00")):
			turned = orientation(segment[10:])
		case marker > 0xe0 && marker <= 0xef && marker != 0xe2 && marker != 0xee, marker == 0xfe,
			marker == 0xe2 && bytes.HasPrefix(segment[4:], []byte("MPF\x00")):
		default:
			out = append(out, segment...)
		}
		if i = end; marker == 0xda {
			next := endOfScan(data, i)
			out = append(out, data[i:next]...)
			i = next
		}
	}
	return turnedJPEG(out, turned)
}

// endOfScan is the position of the next marker after the compressed data at i.
func endOfScan(data []byte, i int) int {
	for ; i+1 < len(data); i++ {
		if data[i] == 0xff && data[i+1] != 0 && (data[i+1] < 0xd0 || data[i+1] > 0xd7) && data[i+1] != 0xff {
			return i
		}
	}
	return len(data)
}

// orientation is a picture's orientation, from the first directory of its TIFF part; 1 is upright, also by default.
func orientation(tiff []byte) uint16 {
	if len(tiff) < 10 {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	if tiff[0] == 'I' {
		order = binary.LittleEndian
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return 1
	}
	for n, p := order.Uint16(tiff[at:]), at+2; n > 0 && p+12 <= int64(len(tiff)); n, p = n-1, p+12 {
		if order.Uint16(tiff[p:]) == 0x0112 {
			if v := order.Uint16(tiff[p+8:]); v >= 1 && v <= 8 {
				return v
			}
		}
	}
	return 1
}

// turnedJPEG writes the orientation, if it is not upright, after the first marker.
func turnedJPEG(data []byte, turned uint16) []byte {
	if turned == 1 {
		return data
	}
	exif := []byte(
		"\xff\xe1\x00\x22Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00")
	binary.BigEndian.PutUint16(exif[28:], turned)
	return slices.Insert(data, 2, exif...)
}

// plainPNG drops the chunks of text, time and camera data, and everything after the end.
func plainPNG(data []byte) []byte {
	out := append(make([]byte, 0, len(data)), data[:8]...)
	for i := 8; i+12 <= len(data); {
		length := int64(binary.BigEndian.Uint32(data[i:]))
		if int64(i)+12+length > int64(len(data)) {
			return data
		}
		end, kind := i+12+int(length), string(data[i+4:i+8])
		switch kind {
		case "eXIf", "tEXt", "zTXt", "iTXt", "tIME":
		default:
			out = append(out, data[i:end]...)
		}
		if i = end; kind == "IEND" {
			return out
		}
	}
	return data
}

// plainWebP drops the chunks EXIF and XMP, and the flags that announce them.
func plainWebP(data []byte) []byte {
	out := append(make([]byte, 0, len(data)), data[:12]...)
	for i := 12; i+8 <= len(data); {
		length := int64(binary.LittleEndian.Uint32(data[i+4:]))
		length += length & 1
		if int64(i)+8+length > int64(len(data)) {
			return data
		}
		end, kind := i+8+int(length), string(data[i:i+4])
		switch kind {
		case "EXIF", "XMP ":
		default:
			at := len(out)
			if out = append(out, data[i:end]...); kind == "VP8X" && length > 0 {
				out[at+8] &^= 0x08 | 0x04
			}
		}
		i = end
	}
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8)) // #nosec G115 -- a photo has at most 10 MiB
	return out
}
