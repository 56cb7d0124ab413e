package public

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/sync/semaphore"

	"formulary/internal/card"
	"formulary/internal/media"
	"formulary/internal/store"
	"formulary/internal/theme"
	"formulary/internal/web/page"
)

// cardKey is everything that the picture of a card depends on.
type cardKey struct {
	title string
	theme theme.Spec
	cover string
}

// tag identifies the picture in headers and addresses.
func (k cardKey) tag() string {
	sum := sha256.Sum256([]byte(k.title + "\x00" + k.theme.Brand.String() + string(k.theme.Mood) + string(k.theme.Background) + "\x00" + k.cover))
	return hex.EncodeToString(sum[:4])
}

func newCardKey(f *store.PublicForm) cardKey {
	design := f.Definition.Design
	k := cardKey{title: f.Header.Title, theme: design.Theme()}
	if design.Cover != "" {
		k = cardKey{cover: design.Cover} // the picture shows nothing else
	}
	return k
}

// cards keeps the pictures of cards.
type cards struct {
	mu       sync.Mutex
	bytes    int
	pictures map[cardKey]card.Picture
	drawing  *semaphore.Weighted
	turns    map[string]*turn // by owner
}

// turn lets the requests for one owner's cards draw one after the other.
type turn struct {
	*semaphore.Weighted
	requests int
}

const (
	maxCards    = 8 << 20 // bytes of all pictures that are kept
	maxDrawings = 2       // at the same time; each takes 4 MB and about 50 ms, with a cover 30 MB and 300 ms
)

func newCards() *cards {
	return &cards{pictures: map[cardKey]card.Picture{}, drawing: semaphore.NewWeighted(maxDrawings), turns: map[string]*turn{}}
}

// draw calls fn when it is the owner's turn. One owner has at most one of the drawings, so
// that nobody waits for all cards of another account.
func (c *cards) draw(ctx context.Context, owner string, fn func() error) error {
	c.mu.Lock()
	t := c.turns[owner]
	if t == nil {
		t = &turn{Weighted: semaphore.NewWeighted(1)}
		c.turns[owner] = t
	}
	t.requests++
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if t.requests--; t.requests == 0 {
			delete(c.turns, owner)
		}
	}()
	for _, s := range []*semaphore.Weighted{t.Weighted, c.drawing} {
		if err := s.Acquire(ctx, 1); err != nil {
			return err
		}
		defer s.Release(1)
	}
	return fn()
}

func (c *cards) get(k cardKey) (card.Picture, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.pictures[k]
	return p, ok
}

func (c *cards) put(k cardKey, p card.Picture) {
	c.mu.Lock()
	defer c.mu.Unlock()
	size := len(p.Bytes) + len(k.title) + 256
	if c.bytes+size > maxCards {
		clear(c.pictures) // clients keep theirs; drawing them again is limited
		c.bytes = 0
	}
	if _, ok := c.pictures[k]; !ok {
		c.pictures[k] = p
		c.bytes += size
	}
}

// ShowCard sends the picture that stands for the form where its link is shared: its cover,
// or a drawing with its title.
func (pages *Pages) ShowCard(req *page.Request) error {
	f, err := pages.publicForm(req)
	if err != nil {
		return err
	}
	key := newCardKey(&f)
	header := req.W.Header()
	tag := `"` + key.tag() + `"`
	header.Set("ETag", tag)
	header.Set("Cache-Control", "public, max-age=86400")
	header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	if page.Matches(req.Header["If-None-Match"], tag) {
		req.W.WriteHeader(http.StatusNotModified)
		return nil
	}
	picture, err := pages.card(req, f.Owner, key)
	if err != nil {
		header.Del("ETag")
		header.Set("Cache-Control", "no-store")
		return err
	}
	header.Set("Content-Type", picture.MIME)
	header.Set("Content-Length", strconv.Itoa(len(picture.Bytes)))
	req.W.WriteHeader(http.StatusOK)
	if req.Method != http.MethodHead {
		req.W.Write(picture.Bytes) // the client may have disconnected
	}
	return nil
}

func (pages *Pages) card(req *page.Request, owner string, k cardKey) (card.Picture, error) {
	p, ok := pages.cards.get(k)
	if ok {
		return p, nil
	}
	if err := pages.limitAction(req); err != nil {
		return card.Picture{}, err
	}
	ctx := req.Context()
	err := pages.cards.draw(ctx, owner, func() (err error) {
		if p, ok = pages.cards.get(k); ok { // drawn while this request waited
			return nil
		}
		if p, err = pages.drawCard(ctx, k); err == nil {
			pages.cards.put(k, p)
		}
		return err
	})
	return p, err
}

func (pages *Pages) drawCard(ctx context.Context, k cardKey) (card.Picture, error) {
	if k.cover == "" {
		return card.Draw(card.Card{Title: k.title, Theme: k.theme})
	}
	stored, content, err := pages.ReadPicture(ctx, k.cover)
	if err != nil {
		return card.Picture{}, err
	}
	defer content.Close()
	var out card.Picture
	err = media.Decode(ctx, content, stored.Size, media.Bounds{}, func(cover *image.RGBA) (err error) {
		out, err = card.Crop(cover)
		return err
	})
	return out, err
}

// maxSummary is the number of characters of a description that search engines and
// messengers show.
const maxSummary = 200

// summarize returns the first words of a text in one line.
func summarize(text string) string {
	words := strings.Fields(text)
	out := ""
	for i, word := range words {
		next := strings.TrimPrefix(out+" "+word, " ")
		if utf8.RuneCountInString(next) >= maxSummary && (i < len(words)-1 || utf8.RuneCountInString(next) > maxSummary) {
			if out == "" { // no spaces, as in Japanese
				out = string([]rune(word)[:maxSummary-1])
			}
			return out + "…"
		}
		out = next
	}
	return out
}

// shareCard describes the form for search engines, and for the sites and messengers in which
// its link is shared.
func (s *fillSession) shareCard() *page.ShareCard {
	if s.preview || s.embedded {
		return nil
	}
	text := summarize(s.form.Header.Description)
	if text == "" {
		text = summarize(s.catalog.Translate("Fill in this form: %s", s.form.Header.Title))
	}
	return &page.ShareCard{Path: s.address(""), Text: text, Picture: "/f/" + s.form.ID + "/card?v=" + newCardKey(&s.form).tag(), Width: card.Width, Height: card.Height}
}
