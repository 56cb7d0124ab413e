package card

import (
	"image"
	"math"

	"golang.org/x/image/vector"
)

// step is a part of an outline: to a point, in a straight line or around one or two others.
type step struct {
	kind   stepKind
	points [3]point // the last one of the kind is the end
}

type stepKind int

const (
	moveTo stepKind = iota
	lineTo
	quadTo
	cubeTo
	closePath
)

// count is how many points a step has.
func (k stepKind) count() int { return [...]int{1, 1, 2, 3, 0}[k] }

// shapes are outlines to be filled together.
type shapes struct{ steps []step }

func (s *shapes) MoveTo(x, y float32) { s.add(moveTo, point{x, y}) }
func (s *shapes) LineTo(x, y float32) { s.add(lineTo, point{x, y}) }
func (s *shapes) ClosePath()          { s.add(closePath) }

func (s *shapes) QuadTo(bx, by, cx, cy float32) { s.add(quadTo, point{bx, by}, point{cx, cy}) }

func (s *shapes) CubeTo(b, c, d point) { s.add(cubeTo, b, c, d) }

func (s *shapes) add(kind stepKind, points ...point) {
	next := step{kind: kind}
	copy(next.points[:], points)
	s.steps = append(s.steps, next)
}

// bounds is a box around the shapes. A curve does not leave the box around its points.
func (s *shapes) bounds() image.Rectangle {
	from, to := point{math.MaxInt32, math.MaxInt32}, point{math.MinInt32, math.MinInt32}
	for _, step := range s.steps {
		for _, p := range step.points[:step.kind.count()] {
			from, to = point{min(from.x, p.x), min(from.y, p.y)}, point{max(to.x, p.x), max(to.y, p.y)}
		}
	}
	return image.Rect(int(math.Floor(float64(from.x))), int(math.Floor(float64(from.y))), int(math.Ceil(float64(to.x))), int(math.Ceil(float64(to.y))))
}

// addTo adds the shapes to a rasterizer whose first pixel is at the origin.
func (s *shapes) addTo(r *vector.Rasterizer, origin image.Point) {
	for _, step := range s.steps {
		p := step.points
		for i := range p {
			p[i].x -= float32(origin.X)
			p[i].y -= float32(origin.Y)
		}
		switch step.kind {
		case moveTo:
			r.MoveTo(p[0].x, p[0].y)
		case lineTo:
			r.LineTo(p[0].x, p[0].y)
		case quadTo:
			r.QuadTo(p[0].x, p[0].y, p[1].x, p[1].y)
		case cubeTo:
			r.CubeTo(p[0].x, p[0].y, p[1].x, p[1].y, p[2].x, p[2].y)
		case closePath:
			r.ClosePath()
		}
	}
}
