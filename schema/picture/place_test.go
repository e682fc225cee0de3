package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"

	"quartermaster/schema/assert"
)

// TestPhotosLoseTheirLocation adds a camera's metadata to real pictures and checks the stored ones: the location is
// gone, the orientation and the picture stay.
func TestPhotosLoseTheirLocation(t *testing.T) {
	small := image.NewRGBA(image.Rect(0, 0, 24, 16))
	small.Set(3, 3, color.RGBA{200, 30, 30, 255})
	var jpg, pic bytes.Buffer
	assert.OK(t, jpeg.Encode(&jpg, small, nil))
	assert.OK(t, png.Encode(&pic, small))
	exif := "Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00GPS 48.1372 N"
	segment := append([]byte{0xff, 0xe1, 0, byte(len(exif) + 2)}, exif...)
	taken := append(append(append([]byte{}, jpg.Bytes()[:2]...), segment...), jpg.Bytes()[2:]...)
	taken = append(taken, "GPS of a second picture"...)
	kept := WithoutPlace("image/jpeg", taken)
	assert.That(t, !bytes.Contains(kept, []byte("GPS")), "the place is still in the JPEG")
	assert.Equal(t, orientation(kept[12:]), 6, "it is turned by")
	_, err := jpeg.Decode(bytes.NewReader(kept))
	assert.NoError(t, err, "what is kept is no JPEG any more")
	plain := WithoutPlace("image/jpeg", jpg.Bytes())
	assert.That(t, bytes.Equal(plain, jpg.Bytes()), "a JPEG without anything beside it was changed")
	text := []byte("\x00\x00\x00\x05tEXtGPS\x00x\x00\x00\x00\x00")
	at := len(pic.Bytes()) - 12 // before IEND
	noted := append(append(append([]byte{}, pic.Bytes()[:at]...), text...), pic.Bytes()[at:]...)
	if kept := WithoutPlace("image/png", noted); !bytes.Equal(kept, pic.Bytes()) {
		t.Error("the PNG is not as it was before it was noted in")
	}
	for _, odd := range []string{"", "\xff\xd8", "\xff\xd8\xff\xe1\xff\xff", "\xff\xd8\xff\xda\x00\x02"} {
		WithoutPlace("image/jpeg", []byte("\xff\xd8"+odd)) // must not panic
	}
	webp := []byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x0c\x00\x00\x00\x00\x00\x00\x00\x00\x00EXIF\x04\x00\x00\x00GPS!")
	if kept := WithoutPlace("image/webp", webp); bytes.Contains(kept, []byte("GPS")) || kept[20] != 0 || kept[4] != byte(len(kept)-8) {
		t.Errorf("the WebP is kept as %q", kept)
	}
}
